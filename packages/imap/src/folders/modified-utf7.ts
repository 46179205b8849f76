/** Modified UTF-7 (RFC 3501 §5.1.3): folder names of clients that have not enabled UTF-8. */

const PRINTABLE = /^[\x20-\x7e]*$/;

export function encodeModifiedUtf7(name: string): string {
  if (PRINTABLE.test(name) && !name.includes('&')) return name;
  return name.replace(/&|[^\x20-\x7e]+/g, (run) => {
    if (run === '&') return '&-';
    const utf16 = Buffer.from(run, 'utf16le').swap16();
    return `&${utf16.toString('base64').replace(/=+$/, '').replaceAll('/', ',')}-`;
  });
}

/** The name, or undefined if it is not modified UTF-7 in its canonical form. */
export function decodeModifiedUtf7(text: string): string | undefined {
  if (!PRINTABLE.test(text)) return undefined;
  if (!text.includes('&')) return text;
  let valid = true;
  const name = text.replace(/&([^-]*)(-?)/g, (_, shifted: string, close: string) => {
    if (close === '' || !/^[A-Za-z0-9+,]*$/.test(shifted)) valid = false;
    if (shifted === '') return '&';
    const bytes = Buffer.from(shifted.replaceAll(',', '/'), 'base64');
    if (bytes.length % 2 !== 0) {
      valid = false;
      return '';
    }
    return bytes.swap16().toString('utf16le');
  });
  // Each name has one spelling: a name that does not encode back to its input is an error (null shifts, ASCII in
  // base64).
  return valid && name.isWellFormed() && encodeModifiedUtf7(name) === text ? name : undefined;
}
