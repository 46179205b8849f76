import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import type { Database } from '#db/database.ts';
import type { World } from './world.ts';

/** The machine and versions of the measurement, without Temporal. */
export async function machineAndDatabase(db: Pick<Database, 'query'>): Promise<string[]> {
  const setting = async (name: string) => {
    const [row] = await db.query<{ value: string }>(`select current_setting($1) as value`, [name]);
    return row?.value ?? '';
  };
  const [cpu] = os.cpus();
  const memoryGb = Math.round(os.totalmem() / 2 ** 30);
  return [
    `${cpu?.model.trim() ?? 'unknown CPU'}, ${os.availableParallelism()} cores, ${memoryGb} GB`,
    `${osName()}, Node ${process.versions.node}`,
    `PostgreSQL ${await setting('server_version')} (fsync ${await setting('fsync')}, synchronous_commit ${await setting('synchronous_commit')})`,
    `load average ${os.loadavg()[0]?.toFixed(1)} before the run`,
  ];
}

/** One line with the machine and versions of the measurement. */
export async function machineLine({ services, temporal }: World): Promise<string> {
  const { serverVersion } = await temporal.client.workflowService.getSystemInfo({});
  return [...(await machineAndDatabase(services.db)), `Temporal ${serverVersion} (development server, SQLite)`].join(
    '; ',
  );
}

function osName(): string {
  try {
    const [, name] = /^PRETTY_NAME="?([^"\n]+)/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
    return `${name ?? os.type()} ${os.release()}`;
  } catch {
    return execFileSync('uname', ['-sr']).toString().trim();
  }
}
