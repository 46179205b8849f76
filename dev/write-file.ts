import { renameSync, writeFileSync } from 'node:fs';

/** Writes a file beside its place and moves it there, so that nobody ever reads half of it. */
export function writeWhole(file: string, content: string, mode: number): void {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, content, { mode });
  renameSync(unfinished, file);
}
