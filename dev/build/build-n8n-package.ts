/**
 * Builds the nodes for n8n, as CommonJS in the folders that n8n's `package.json` section names. `npm run build:packages`
 * does this too.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = path.join(root, 'integrations/n8n');

export const N8N_PACKAGE = 'n8n-nodes-agent-mailbox';
/**
 * n8n itself; its rules for packages ask for this entry. Nothing is imported from it: without `optional`, npm would install
 * it with all that it depends on.
 */
const PEERS = {
  peerDependencies: { 'n8n-workflow': '*' },
  peerDependenciesMeta: { 'n8n-workflow': { optional: true } },
};

/** @param folder of the package; `npm publish` takes it as it is */
export function buildN8nPackage(folder: string): void {
  const built = path.join(folder, 'dist');
  execFileSync(path.join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.n8n.json', '--outDir', built], {
    cwd: root,
    stdio: 'inherit',
  });
  // Icons, and what n8n's editor shows about a node.
  for (const file of globSync('**/*.{svg,json}', { cwd: path.join(source, 'src') }))
    cpSync(path.join(source, 'src', file), path.join(built, file));
  // It had types alone.
  rmSync(path.join(built, 'n8n-interfaces.js'));
  cpSync(path.join(source, 'examples'), path.join(folder, 'examples'), { recursive: true });
  const manifest = JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8')) as Record<string, unknown>;
  // The sources are modules, what is built is CommonJS.
  const published = { ...manifest, type: undefined, private: undefined, ...PEERS };
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
  cpSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
  cpSync(path.join(source, 'README.md'), path.join(folder, 'README.md'));
}
