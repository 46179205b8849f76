/** Long enough for the browser to begin, after which the copy in memory is let go. */
const KEPT_MS = 60_000;

/** Lets the browser keep bytes as a file. Their own type is left out, so that the browser does not open them. */
export function saveFile(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = address;
  // Characters that turn the direction would hide the ending of a name.
  link.download = name.replace(/[\p{Cc}\p{Cf}\\/:*?"<>|]/gu, '_');
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}
