/**
 * Builds the Python package for publishing: a wheel and the source.
 *
 *   npm run build:python [-- folder]       default: dist/python; then `uv publish dist/python/*`
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonEnvironment, usualPython } from './python-environment.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = path.resolve(root, process.argv[2] ?? 'dist/python');

// It is emptied: never a folder with anything but earlier builds.
if (existsSync(folder) && readdirSync(folder).some((name) => !/^agent_mailbox-.*\.(?:whl|tar\.gz)$/.test(name))) {
  process.stderr.write(`${folder} has other files than built packages. Give another folder.\n`);
  process.exit(1);
}
rmSync(folder, { recursive: true, force: true });
const interpreter = pythonEnvironment(usualPython() ?? '', 'requirements-tools');
execFileSync(
  interpreter,
  ['-m', 'hatchling', 'build', '--target', 'sdist', '--target', 'wheel', '--directory', folder],
  {
    cwd: path.join(root, 'python'),
    stdio: 'inherit',
  },
);
