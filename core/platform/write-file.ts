import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Writes a temporary file and renames it, so that no reader ever sees half of it. */
export function writeWhole(file: string, content: string, mode: number): void {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, content, { mode });
  renameSync(unfinished, file);
}

/** An unchanged file is not written, so that no editor reads it again. */
export function writeFileIfChanged(file: string, content: string): void {
  if (readText(file) !== content) writeFileSync(file, content);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
