/** The languages of the snippets: one entry each, in the order of the tabs. */
import type { Command } from 'commander';
import type { Route } from '#api/http/route.ts';
import { commandSnippet } from './command-snippet.ts';
import { curlSnippet } from './curl-snippet.ts';
import { pythonSnippet } from './python-snippet.ts';
import type { Reached } from './read-coverage.ts';
import { typeScriptSnippet } from './typescript-snippet.ts';

export interface SnippetSource {
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
