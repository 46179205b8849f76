/** Marks in the browser's timeline that a list has its first rows and takes clicks: read by `npm run bench:pages`. */
export function markRowsShown(): void {
  performance.mark('rows-shown');
}
