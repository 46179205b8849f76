/**
 * Temporal's time-skipping test server: workflows that wait for half an hour end in a second, with their real timers.
 *
 * It is a Java program. Its jars are fetched by Maven once per user; where there is no Java or Maven, the SDK's download
 * of a native build is tried. One environment per test file, workflows one after another (its clock is global), a
 * workflowExecutionTimeout on every start (after a workflow the clock jumps on by it). Schedules are UNIMPLEMENTED there.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { cacheFolder } from '#dev/cache-folder.ts';

const run = promisify(execFile);
const VERSION = '1.38.0';
const FETCH_WITHIN_MS = 300_000;
const folder = path.join(cacheFolder(), `temporal-test-server-${VERSION}`);
const wrapper = path.join(folder, 'temporal-test-server');

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>dev.local</groupId>
  <artifactId>temporal-test-server-download</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

/** `exec` matters: the SDK ends the server by the id of this process. */
const WRAPPER = `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Xmx512m \\
  -cp "$here/lib/*" io.temporal.testserver.TestServer "$@"
`;

/** Fetches the jars beside their place and moves them there, so that a broken-off fetch is never run. */
async function fetchJars(): Promise<void> {
  await run('java', ['-version']);
  mkdirSync(cacheFolder(), { recursive: true });
  const unfinished = mkdtempSync(path.join(cacheFolder(), 'test-server-'));
  try {
    writeFileSync(path.join(unfinished, 'pom.xml'), POM);
    const copy = ['dependency:copy-dependencies', '-DincludeScope=runtime', '-DoutputDirectory=lib'];
    await run('mvn', ['-q', '-B', ...copy], { cwd: unfinished, timeout: FETCH_WITHIN_MS });
    writeFileSync(path.join(unfinished, 'temporal-test-server'), WRAPPER, { mode: 0o755 });
    // Another test process may have been quicker; then its copy is as good.
    if (!existsSync(wrapper)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** The package gives the server five seconds, which a busy machine may not have the first time. */
async function startJava(): Promise<TestWorkflowEnvironment> {
  for (let tries = 1; ; tries++)
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path: wrapper } },
      });
    } catch (error) {
      if (tries === START_TRIES_MAX) throw error;
    }
}
const START_TRIES_MAX = 5;

/**
 * A time-skipping environment of one's own. Call its `teardown` at the end.
 *
 * @throws with the ways out when the server can be had in neither way
 */
export async function startTimeSkippingServer(): Promise<TestWorkflowEnvironment> {
  const problems: string[] = [];
  try {
    if (!existsSync(wrapper)) await fetchJars();
    await run('java', ['-version']);
    return await startJava();
  } catch (error) {
    problems.push(`Java with Maven: ${error instanceof Error ? error.message : error}`);
  }
  try {
    mkdirSync(cacheFolder(), { recursive: true });
    return await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'cached-download', downloadDir: cacheFolder(), ttl: '365d' } },
    });
  } catch (error) {
    problems.push(`download: ${error instanceof Error ? error.message : error}`);
  }
  throw new Error(
    `The time-skipping test server cannot be started:\n${problems.map((each) => `  - ${each}`).join('\n')}\n` +
      'Install Java 17 and Maven (Debian: apt-get install openjdk-17-jre-headless maven), or allow https://temporal.download.',
  );
}
