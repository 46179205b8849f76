/** Metadata as lines of `key = value`, which people can type. */
export const metadataText = (metadata: Readonly<Record<string, string>>): string =>
  Object.entries(metadata)
    .map(([key, value]) => `${key} = ${value}`)
    .join('\n');

/** @returns the metadata, or the error in the text */
export function metadataOf(text: string): Record<string, string> | string {
  const metadata: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue;
    const at = line.indexOf('=');
    const key = line.slice(0, at).trim();
    if (at < 0 || key === '') return `“${line.trim()}” is not of the form key = value.`;
    metadata[key] = line.slice(at + 1).trim();
  }
  return metadata;
}
