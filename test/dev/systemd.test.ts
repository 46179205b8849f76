/** The units of deploy/systemd: systemd accepts them, and they give away as little as they can. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DYNAMIC_CONFIG } from '#dev/launcher/temporal-server.ts';
import { needs, programFile } from '#test/support/programs.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../../deploy/systemd/', import.meta.url));
const guide = readFileSync(new URL('../../docs/operations/one-server.md', import.meta.url), 'utf8');
const units = globSync('*', { cwd: folder }).toSorted();
const services = units.filter((each) => each.endsWith('.service'));
const read = (unit: string): string => readFileSync(path.join(folder, unit), 'utf8');
/** From 0 to 10; systemd calls below 2 safe, and what has no restrictions at all 9.6. */
const EXPOSURE_MAX = { 'agent-mailbox-certificate.service': 3, others: 2 };

const copies = mkdtempSync(path.join(tmpdir(), 'systemd-'));
after(() => rmSync(copies, { recursive: true, force: true }));

test('systemd accepts the units, and finds little that they may do', needs('systemd-analyze'), async () => {
  // The programs of the guide are not on this machine.
  const program = process.execPath;
  for (const unit of units)
    writeFileSync(
      path.join(copies, unit),
      read(unit).replace(/(?<=^ExecStart=)\/(?:opt\/agent-mailbox\/bin\/node|usr\/local\/bin\/temporal)/m, program),
    );
  const analyze = (...args: string[]) => run(programFile('systemd-analyze'), args, { cwd: copies });
  const verified = await analyze('verify', '--man=no', ...units.map((unit) => `./${unit}`));
  assert.equal(verified.stderr, '');
  for (const unit of services) {
    const most = unit in EXPOSURE_MAX ? EXPOSURE_MAX['agent-mailbox-certificate.service'] : EXPOSURE_MAX.others;
    const { stdout } = await analyze('security', '--offline=true', '--no-pager', `./${unit}`);
    const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
    assert.ok(Number(exposure) <= most, `${unit}: ${exposure}`);
  }
});

test('the four units of the service differ only in what they run, their limits and the ports below 1024', () => {
  const own =
    /^(?:Description|After|Wants|Requires|PartOf|Type|ExecStart|Restart|RestartSec|TimeoutSt\w+|KillMode|MemoryMax|AmbientCapabilities|CapabilityBoundingSet|Environment=METRICS_PORT.*)=?.*\n|^#.*\n/gm;
  const same = ['api', 'worker', 'mail', 'migrate'].map((name) =>
    read(`agent-mailbox-${name}.service`).replaceAll(own, ''),
  );
  assert.deepEqual(
    same,
    same.map(() => same[0]),
  );
  assert.match(same[0] ?? '', /^ProtectSystem=strict$/m);
  const capable = services.filter((unit) => read(unit).includes('AmbientCapabilities='));
  assert.deepEqual(capable, ['agent-mailbox-api.service', 'agent-mailbox-mail.service']);
  // A process is ended later than it ends itself: SHUTDOWN_DEADLINE_SECONDS is 40.
  for (const name of ['api', 'worker', 'mail'])
    assert.match(read(`agent-mailbox-${name}.service`), /^TimeoutStopSec=60$/m);
});

test('Temporal has the same dynamic configuration as under npm start', () => {
  const pairs = read('temporal.service').matchAll(/--dynamic-config-value ([\w.]+)=(\w+)/g);
  assert.deepEqual(Object.fromEntries([...pairs].map(([, key, value]) => [key, value])), DYNAMIC_CONFIG);
});

test('the guide installs every unit, and the folders that they name', () => {
  for (const unit of units)
    assert.ok(guide.includes(unit.replace(/\.\w+$/, '')) || guide.includes('deploy/systemd/*'), unit);
  for (const place of [
    '/opt/agent-mailbox',
    '/etc/agent-mailbox/settings.env',
    '/etc/agent-mailbox/certificate.env',
    '/usr/local/bin/temporal',
  ])
    assert.ok(guide.includes(place), place);
});
