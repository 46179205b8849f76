/** The fast lane changes times, never outcomes: the core of the delivery suite once more, without it. */
import { test } from 'node:test';
import { TEST_ENVIRONMENT } from '#test/support/services.ts';

const FILES = [
  'first-attempt',
  'retry-ladder',
  'stop',
  'waiting-for-a-slot',
  'infrastructure-errors',
  'across-processes',
  'crash',
] as const;
const FILE_TIMEOUT_MS = 900_000;

// This file has a process of its own (`test/runner/plan.ts`); those it starts inherit the variable.
process.env[TEST_ENVIRONMENT.fastLane] = 'off';

for (const file of FILES)
  test(`${file}, without the fast lane`, { timeout: FILE_TIMEOUT_MS }, () => import(`./${file}.test.ts`));
