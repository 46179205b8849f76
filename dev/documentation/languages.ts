/** The languages of the snippets: one entry each, in the order of the tabs. */

import type { Command } from 'commander';
import type { Route } from '#api/http/route.ts';
import { commandSnippet } from './command-snippet.ts';
import type { Reached } from './documents.ts';
import { pythonSnippet } from './python-snippet.ts';
import { samplePath, shellWord } from './sample-request.ts';
import { typeScriptSnippet } from './typescript-snippet.ts';

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
function curlSnippet(route: Route, serviceUrl: string): string {
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

interface SnippetSource {
  readonly route: Route;
  /** What reaches the route, by the columns of docs/coverage.md. */
  readonly reached: Reached;
  readonly serviceUrl: string;
  readonly commands: Command;
}

export interface Language {
  readonly name: string;
  /** @returns `undefined` where the language has nothing for the route */
  snippet(source: SnippetSource): string | undefined;
}

export const LANGUAGES: readonly Language[] = [
  { name: 'cURL', snippet: ({ route, serviceUrl }) => curlSnippet(route, serviceUrl) },
  { name: 'TypeScript', snippet: ({ route, reached }) => typeScriptSnippet(route, reached['TypeScript'] ?? []) },
  { name: 'Python', snippet: ({ route, reached }) => pythonSnippet(route, reached['Python'] ?? []) },
  {
    name: 'CLI',
    snippet: ({ commands, reached, route }) => commandSnippet(commands, reached['command line'] ?? [], route),
  },
];
