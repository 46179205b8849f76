import type { Route } from '#api/http/route.ts';
import { isJson, type Json, modelName, pythonName, pythonText } from '#dev/generate/python-client/schema-as-python.ts';
import { samplePathValues, sampleQuery } from './sample-request.ts';

/** Lines are not longer where an argument can be put on one of its own. */
const LINE_MAX = 88;
const MAILBOX = 'service.mailbox(id)';
/** Arguments of methods that take something else than ids and the body or query of the request. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  'mailbox.files.upload': [pythonText('report.pdf')],
  'service.mailbox(id).files.upload': [pythonText('report.pdf')],
};

/** The class of an object with a name, whichever of several forms it has. */
function modelOf(schema: Json): string | undefined {
  const forms = [schema, ...(Array.isArray(schema['anyOf']) ? schema['anyOf'].filter(isJson) : [])];
  const title = forms.map((form) => form['title']).find((each) => typeof each === 'string');
  return title === undefined ? undefined : modelName(title.replaceAll(' ', ''));
}

const CONSTANTS = new Map<unknown, string>([
  [null, 'None'],
  [true, 'True'],
  [false, 'False'],
]);

/** A value of JSON as Python: objects with a named schema as its model, others as they are. */
function pythonValue(value: unknown, schema: Json): string {
  if (typeof value === 'string') return pythonText(value);
  if (Array.isArray(value)) {
    const items = isJson(schema['items']) ? schema['items'] : {};
    return `[${value.map((each) => pythonValue(each, items)).join(', ')}]`;
  }
  if (typeof value !== 'object' || value === null) return CONSTANTS.get(value) ?? String(value);
  const model = modelOf(schema);
  if (model !== undefined) return `models.${model}(${fieldsOf(value, schema).join(', ')})`;
  const entries = Object.entries(value).map(([name, each]) => `${pythonText(name)}: ${pythonValue(each, {})}`);
  return `{${entries.join(', ')}}`;
}

/** An object as keyword arguments. */
function fieldsOf(object: object, schema: Json): string[] {
  const properties = isJson(schema['properties']) ? schema['properties'] : {};
  return Object.entries(object).map(([name, value]) => {
    const property = properties[name];
    return `${pythonName(name)}=${pythonValue(value, isJson(property) ? property : {})}`;
  });
}

function written(callee: string, args: readonly string[]): string {
  const line = `${callee}(${args.join(', ')})`;
  return line.length <= LINE_MAX ? line : `${callee}(\n${args.map((each) => `    ${each},\n`).join('')})`;
}

/** The name of what a method answers: `Mailbox` is `mailbox`; undefined without an answer. */
function resultOf(route: Route): string | undefined {
  const [spec] = Object.entries(route.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, each]) => each);
  if (spec?.contentType !== undefined) return 'content';
  const schema: { readonly title?: string } | undefined = spec?.schema;
  return schema === undefined
    ? undefined
    : pythonName((schema.title ?? 'answer').replaceAll(' ', '').replace(/^./, (first) => first.toLowerCase()));
}

const isList = (route: Route): boolean =>
  Object.entries(route.responses).some(([status, { schema }]) => {
    const properties: unknown = schema !== undefined && 'properties' in schema ? schema.properties : undefined;
    return status.startsWith('2') && isJson(properties) && 'data' in properties && 'nextCursor' in properties;
  });

/**
 * A call of the Python package.
 *
 * @param methods those that reach the route; `undefined` without any
 */
export function pythonSnippet(route: Route, methods: readonly string[]): string | undefined {
  const [method] = methods;
  if (method === undefined) return undefined;
  const ids = samplePathValues(route.path).map(pythonText);
  const callee = method.startsWith(MAILBOX) ? method.replace('(id)', `(${ids.shift()})`) : method;
  const isStream = Object.values(route.responses).some(({ contentType }) => contentType === 'text/event-stream');
  if (isStream) return `for event in ${callee}():\n    print(event)`;
  const args = ARGUMENTS[method] ?? [
    ...ids,
    ...fieldsOf(route.bodyExample ?? {}, (route.body ?? {}) as Json),
    ...fieldsOf(sampleQuery(route), {}),
  ];
  const call = written(callee, args);
  const before = call.includes('models.') ? 'from agent_mailbox import models\n\n' : '';
  if (isList(route)) return `${before}for each in ${call}:\n    print(each)`;
  const result = resultOf(route);
  // The client itself has the name of what it answers.
  const name = result !== undefined && callee.startsWith(`${result}.`) ? 'details' : result;
  return `${before}${name === undefined ? '' : `${name} = `}${call}`;
}
