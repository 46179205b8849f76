/** Rules of the linter. Layers: what each folder may import (docs/architecture.md). */
import { defineConfig } from 'oxlint';

const LAYERS = [
  ...[
    'domain',
    'db',
    'mime',
    'core',
    'mailstore',
    'sending',
    'administration',
    'activities',
    'workflows',
    'worker',
    'api',
    'mail',
  ],
  ...['client', 'cli', 'mcp', 'operations', 'dev', 'bench', 'test', 'packages'],
];
const SCOPE = '@agent-mailbox/';
const PACKAGES = ['mime-structure', 'mail-store', 'imap', 'pop3'];
/** Layer: what it, and each that may import it, imports of packages. */
const PACKAGES_WITH: Readonly<Record<string, string[]>> = {
  domain: ['mail-store/flags', 'mail-store/limits', 'mime-structure/limits', 'imap/capabilities'],
  mime: ['mime-structure'],
  mailstore: ['mail-store'],
  mail: ['imap', 'pop3'],
};
/** Why TLS failed is said in the same words by the published client, which imports nothing of the service. */
const TLS_WORDS = 'client/tls-failure.ts';
/** What a language model gets is the same by REST as by the programs that are published. */
const MODEL_TEXT = 'client/model-text.ts';
const USE_CASES = ['domain', 'db', 'mime', 'core', 'mailstore', 'sending'];

type Ban = { regex?: string; group?: string[]; importNames?: string[]; allowTypeImports?: boolean; message: string };
const ban = (files: string[], ...patterns: Ban[]) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns }] as ['error', { patterns: Ban[] }] },
});

const PARENT: Ban = {
  regex: '^\\.\\./',
  message: 'Begin an import from another folder with # and its layer, such as #core/platform/log/logger.ts.',
};
const NODE: Ban = { regex: '^node:', message: 'This folder runs without Node and has no I/O: nothing of node:*.' };

const DRIVER: Ban = {
  regex: '^pg$',
  allowTypeImports: true,
  message: 'Connections are opened by db/connections.ts: it gives every session the same settings.',
};

/** Of the packages, those in `may` alone. */
function packagesBut(may: string[], message: string): Ban[] {
  const closed = PACKAGES.filter((name) => !may.includes(name));
  if (closed.length === 0) return [];
  const group = [...closed.map((name) => `${SCOPE}${name}/*`), ...may.map((name) => `!${SCOPE}${name}`)];
  return [
    { regex: `^${SCOPE}(${closed.join('|')})$`, message },
    { group, message },
  ];
}

/** A package imports node:, itself, and of other packages those in `may`. */
function ownPackage(name: string, may: string[], why: string) {
  const message = `${why} A package never imports the service.`;
  const service: Ban = { regex: `^#(${[...LAYERS, ...PACKAGES].filter((each) => each !== name).join('|')})/`, message };
  return ban([`packages/${name}/src/**`], PARENT, service, ...packagesBut(may, message));
}

/**
 * @param may layers; a path means that of its layer only such files are allowed
 * @param why the sentence that a wrong import is answered with
 */
function layer(files: string, may: string[], why: string, ...more: Ban[]) {
  const single = may.filter((name) => name.includes('/'));
  const open = new Set([...may, ...single.map((name) => name.split('/')[0])]);
  const message = `${why} Imports go downwards only: see "Layers" in docs/architecture.md.`;
  const closed: Ban = { regex: `^#(${LAYERS.filter((name) => !open.has(name)).join('|')})/`, message };
  const group = [
    ...new Set(single.map((name) => `[#]${name.split('/')[0]}/**`)),
    ...single.map((name) => `![#]${name}`),
  ];
  const packages = packagesBut(
    [...open].flatMap((name) => PACKAGES_WITH[name] ?? []),
    message,
  );
  const driver = files === 'db/**' ? [] : [DRIVER];
  return ban(
    [files],
    PARENT,
    closed,
    ...driver,
    ...packages,
    ...(single.length > 0 ? [{ group, message }] : []),
    ...more,
  );
}

const all = (level: 'error' | 'off', plugin: string, names: string) =>
  Object.fromEntries(names.split(' ').map((name) => [`${plugin}${name}`, level]));

/** @param up from a file of the page to dashboard/ */
const scene = (up: string): Ban => ({
  group: [
    `${up.replace('../', '')}**`,
    ...['api/**', 'components/**', 'mail-html/**', 'problem.ts'].map((name) => `!${up}${name}`),
    ...['client/snippets.ts', 'domain/organizations/audit-actions.ts'].map((name) => `!${up}../${name}`),
  ],
  message:
    'Pages do not import each other: what two of them need is a component or belongs to api/. From outside they take client/snippets.ts and domain/organizations/audit-actions.ts.',
});

export default defineConfig({
  plugins: ['typescript', 'import', 'unicorn', 'oxc', 'node', 'promise'],
  categories: { correctness: 'error' },
  rules: {
    'typescript/no-floating-promises': [
      'error',
      {
        allowForKnownSafeCalls: [
          {
            from: 'package',
            name: ['test', 'describe', 'it', 'suite', 'before', 'after', 'beforeEach', 'afterEach'],
            package: 'node:test',
          },
        ],
      },
    ],
    'typescript/no-misused-promises': [
      'error',
      { checksVoidReturn: { arguments: false, attributes: false, properties: false } },
    ],
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
    ...all('error', 'typescript/', 'await-thenable switch-exhaustiveness-check no-explicit-any only-throw-error'),
    ...all('error', 'typescript/', 'no-non-null-assertion consistent-type-imports no-unnecessary-type-assertion'),
    ...all('error', '', 'import/no-cycle no-console eqeqeq prefer-const no-var'),
    ...all('off', 'typescript/', 'unbound-method restrict-template-expressions no-redundant-type-constituents'),
    ...all('off', 'unicorn/', 'no-array-sort no-useless-spread no-thenable'),
    ...all('off', '', 'typescript/no-misused-spread promise/no-callback-in-promise no-control-regex'),
  },
  ignorePatterns: ['node_modules', 'test/histories'],
  overrides: [
    layer('domain/**', ['domain'], 'domain/ imports nothing but itself.', NODE),
    layer('db/**', ['domain', 'db'], 'db/ imports domain/.'),
    layer('mime/**', ['domain', 'mime'], 'mime/ turns bytes into structure and imports domain/.'),
    layer('core/**', ['domain', 'db', 'mime', 'core', TLS_WORDS], 'core/ imports domain/, db/ and mime/.'),
    layer('mailstore/**', USE_CASES.slice(0, -1), 'mailstore/ is below sending/ and the protocols.'),
    layer('sending/**', [...USE_CASES, TLS_WORDS], 'sending/ knows neither protocols nor workflows.'),
    layer(
      'administration/**',
      [...USE_CASES, 'administration'],
      'administration/ has the use cases of operators, above those of tenants.',
    ),
    layer(
      'activities/**',
      [...USE_CASES, 'administration', 'activities'],
      'activities/ are effects and know no workflow.',
    ),
    layer('workflows/**', ['domain', 'activities', 'workflows'], 'Workflows decide, on domain/ alone.', NODE, {
      regex: '^#activities/',
      allowTypeImports: true,
      message: 'Workflows are deterministic: of activities/ they import types only.',
    }),
    layer(
      'worker/**',
      [...USE_CASES, 'administration', 'activities', 'workflows', 'worker'],
      'The worker knows no protocol.',
    ),
    layer(
      'api/**',
      [...USE_CASES, 'administration', 'api', 'client/snippets.ts', MODEL_TEXT],
      'api/ speaks HTTP and imports use cases.',
    ),
    layer(
      'api/main.ts',
      [...USE_CASES, 'administration', 'api', 'mcp'],
      'Only this file of api/ knows the MCP server.',
    ),
    layer(
      'operations/**',
      [...USE_CASES, 'administration', 'worker', 'operations'],
      'What operators run knows neither protocols nor the launcher.',
    ),
    layer(
      'operations/probe/**',
      [...USE_CASES, 'operations', 'client'],
      'The prober speaks with the service as its users do.',
    ),
    layer('mail/**', [...USE_CASES, 'mail', TLS_WORDS], 'mail/ speaks protocols and imports use cases.'),
    ownPackage('mime-structure', [], 'This package imports node: alone.'),
    ownPackage('mail-store', ['mime-structure'], 'The store knows no protocol.'),
    ownPackage('imap', ['mime-structure', 'mail-store'], 'The engine knows no host.'),
    ownPackage('pop3', ['mail-store'], 'The engine knows no host.'),
    layer('client/**', ['client'], 'The client is published alone and runs wherever fetch is.', NODE),
    layer('mcp/**', ['client', 'mcp'], 'The MCP server speaks HTTP through client/.'),
    layer('cli/**', ['client', 'mcp', 'cli'], 'The command line speaks HTTP through client/.'),
    ban(['dashboard/components/*/**'], {
      group: ['../../**', '!../../problem.ts', '!../../mail-html/**'],
      message: 'Components know no API and no page: they get what they show.',
    }),
    ban(['dashboard/{api,frame,mail-html}/**'], {
      regex: '/scenes/|^\\.\\./\\.\\./',
      message: 'These folders know no page and nothing outside of dashboard/.',
    }),
    ...['../../', '../../../'].flatMap((up) => {
      const files = `dashboard/scenes/${up.replace('../', '').replaceAll('../', '*/')}*`;
      return [
        ban([`${files}.ts`], scene(up)),
        ban([`${files}.tsx`], scene(up), {
          group: [`${up}api/client.ts`],
          importNames: ['service', 'bodyOf', 'done'],
          message: 'Requests are in the queries.ts of the page, apart from what is shown.',
        }),
      ];
    }),
    ban(['integrations/*/src/**'], {
      regex: '^#',
      message: 'Published alone: it imports the client, never the service.',
    }),
    ban(['examples/**'], {
      regex: '^[#.]',
      message: 'An example imports published packages only, so that a reader can copy it.',
    }),
    { files: ['bench/**', 'dev/**', 'operations/**', 'examples/**', 'test/**'], rules: { 'no-console': 'off' } },
    { files: ['**/*.mjs'], rules: { 'no-restricted-imports': 'off' } },
  ],
});
