import type { Route } from '#api/http/route.ts';
import { samplePathValues, sampleQuery, typeScriptLiteral } from './sample-request.ts';

/** Arguments of methods that take something else than ids and the body or query of the request. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  'mailbox.files.upload': "{ filename: 'report.pdf', content: await openAsBlob('report.pdf') }",
  'service.mailbox(id).files.upload': "{ filename: 'report.pdf', content: await openAsBlob('report.pdf') }",
};
/** Of a method that takes one field of the body. */
const FIELD: Readonly<Record<string, string>> = {
  'service.consents.deny': 'reason',
  'device.begin': 'name',
  'device.session': 'deviceCode',
};

const MAILBOX = 'service.mailbox(id)';

/** The name of what a method answers: `Mailbox` is `mailbox`, a list has its data taken out of it. */
function resultOf(route: Route): string {
  const [spec] = Object.entries(route.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, each]) => each);
  const schema: { readonly title?: string; readonly properties?: object } | undefined = spec?.schema;
  if (spec?.contentType !== undefined) return 'download';
  if (schema === undefined) return '';
  const { title = 'answer', properties = {} } = schema;
  if ('data' in properties && 'nextCursor' in properties) return '{ data, nextCursor }';
  const name = title.replaceAll(' ', '');
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
}

/**
 * A call of the client.
 *
 * @param methods those that reach the route; `undefined` without any
 */
export function typeScriptSnippet(route: Route, methods: readonly string[]): string | undefined {
  const [method] = methods;
  if (method === undefined) return undefined;
  const ids = samplePathValues(route.path).map((id) => typeScriptLiteral(id));
  const isOfMailbox = method.startsWith(MAILBOX);
  const callee = isOfMailbox ? method.replace('(id)', `(${ids.shift()})`) : method;
  const isStream = Object.values(route.responses).some(({ contentType }) => contentType === 'text/event-stream');
  if (isStream) return `for await (const event of ${callee}()) {\n  console.log(event);\n}`;
  const field = FIELD[method];
  const body = field === undefined ? route.bodyExample : route.bodyExample?.[field];
  const query = sampleQuery(route);
  const own = ARGUMENTS[method];
  const args =
    own !== undefined
      ? [own]
      : [
          ...ids,
          ...(body === undefined ? [] : [typeScriptLiteral(body)]),
          ...(Object.keys(query).length === 0 ? [] : [typeScriptLiteral(query)]),
        ];
  const named = resultOf(route);
  // The client itself has the name of what it answers.
  const result = callee.startsWith(`${named}.`) ? 'details' : named;
  const call = `await ${callee}(${args.join(', ')});`;
  const before = own?.includes('openAsBlob') === true ? "import { openAsBlob } from 'node:fs';\n\n" : '';
  return `${before}${result === '' ? '' : `const ${result} = `}${call}`;
}
