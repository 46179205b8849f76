import { Tokenizer } from 'htmlparser2';
import { HTML_MAX_CHARACTERS, REMOTE_IMAGE_URL_MAX, REMOTE_IMAGES_PER_MESSAGE_MAX } from '#domain/mail/mail-limits.ts';

/**
 * Addresses of the pictures that an HTML document names elsewhere (`<img src="https:…">`), in their normal form. In one
 * pass over its tokens; never throws.
 */
export function remoteImagesOf(html: string): ReadonlySet<string> {
  const found = new Set<string>();
  const document = html.slice(0, HTML_MAX_CHARACTERS);
  let isImage = false;
  /** Value of `src` so far; undefined: another attribute, or a second `src`, which does not count. */
  let source: string | undefined;
  let named = false;
  const add = (piece: string) => {
    if (source !== undefined && source.length <= REMOTE_IMAGE_URL_MAX) source += piece;
  };
  const tokenizer = new Tokenizer(
    {},
    {
      onopentagname: (from, to) => {
        isImage = to - from <= 5 && /^(?:img|image)$/i.test(document.slice(from, to));
        named = false;
      },
      onattribname: (from, to) => {
        const isSource = isImage && !named && to - from === 3 && document.slice(from, to).toLowerCase() === 'src';
        source = isSource ? '' : undefined;
        named ||= isSource;
      },
      onattribdata: (from, to) => add(document.slice(from, to)),
      onattribentity: (codepoint) => add(String.fromCodePoint(codepoint)),
      onattribend: () => {
        const url = source === undefined || source.length > REMOTE_IMAGE_URL_MAX ? null : URL.parse(source.trim());
        if (url !== null && /^https?:$/.test(url.protocol) && found.size < REMOTE_IMAGES_PER_MESSAGE_MAX)
          found.add(url.href);
        source = undefined;
      },
      ontext: () => undefined,
      ontextentity: () => undefined,
      onopentagend: () => undefined,
      onselfclosingtag: () => undefined,
      onclosetag: () => undefined,
      oncomment: () => undefined,
      oncdata: () => undefined,
      ondeclaration: () => undefined,
      onprocessinginstruction: () => undefined,
      onend: () => undefined,
    },
  );
  tokenizer.write(document);
  tokenizer.end();
  return found;
}
