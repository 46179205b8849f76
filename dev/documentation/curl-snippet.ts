import type { Route } from '#api/http/route.ts';
import { samplePath } from './sample-request.ts';
import { shellWord } from './source-literal.ts';

/** Header line of a curl command for the credential of a route. */
function credentialLine({ auth }: Route): string | undefined {
  if (auth === 'public') return undefined;
  if (auth === 'operator' || auth === 'instance') return '-H "x-operator-key: $OPERATOR_KEY"';
  if (auth === 'approval_link') return '-H "authorization: Bearer $APPROVAL_LINK"';
  if (auth === 'mailbox_token') return '-H "authorization: Bearer $MAILBOX_TOKEN"';
  if (auth === 'session' || 'role' in auth) return '-H "authorization: Bearer $SESSION"';
  return '-H "x-organization-key: $API_KEY"';
}

/** @param serviceUrl without a slash at the end */
export function curlSnippet(route: Route, serviceUrl: string): string {
  const hasBody = route.bodyExample !== undefined;
  const method = route.method === 'GET' || (route.method === 'POST' && hasBody) ? '' : ` -X ${route.method}`;
  const lines = [`curl${method} ${shellWord(`${serviceUrl}${samplePath(route)}`)}`, credentialLine(route)];
  if (hasBody)
    lines.push(
      '-H "content-type: application/json"',
      `-d '${JSON.stringify(route.bodyExample, null, 2).replaceAll("'", "'\\''")}'`,
    );
  if (route.takesFile === true) lines.push('-H "content-type: application/pdf"', '--data-binary @report.pdf');
  return lines.filter((line) => line !== undefined).join(' \\\n  ');
}
