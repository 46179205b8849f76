/** How an element of HTML is shown, as far as its name and its own attributes say; style sheets are not read. */

export interface ElementDisplay {
  /** False: neither its text nor its links are seen. */
  readonly seen: boolean;
  /** Its text has no size to be read in; an element inside may give itself one. */
  readonly tiny: boolean;
  /** A line through it says that it does not count. */
  readonly struck: boolean;
  /** Line breaks and spaces count. */
  readonly preformatted: boolean;
  /** It stands on lines of its own by its style. */
  readonly block: boolean;
}

const SHOWN: ElementDisplay = { seen: true, tiny: false, struck: false, preformatted: false, block: false };
const HIDDEN: ElementDisplay = { ...SHOWN, seen: false };
const STRUCK = new Set(['s', 'strike', 'del']);
const PREFORMATTED = new Set(['pre', 'textarea', 'xmp', 'listing', 'plaintext']);
const STYLE_MAX_CHARACTERS = 4_096;

/**
 * @param parent undefined: it is in no other element
 * @param unseen names of elements that are never shown
 */
export function displayOf(
  name: string,
  attributes: ReadonlyMap<string, string>,
  parent: ElementDisplay | undefined,
  unseen: ReadonlySet<string>,
): ElementDisplay {
  if (parent?.seen === false || unseen.has(name) || attributes.has('hidden')) return HIDDEN;
  const outside = parent ?? SHOWN;
  const inherited = STRUCK.has(name) && !outside.struck ? { ...outside, struck: true } : outside;
  const style = attributes.get('style');
  if (style === undefined) {
    if (PREFORMATTED.has(name)) return { ...inherited, preformatted: true, block: false };
    return inherited.block ? { ...inherited, block: false } : inherited;
  }
  const declared = declarations(style);
  if (isHidden(declared)) return HIDDEN;
  const whiteSpace = declared.get('white-space');
  return {
    seen: true,
    tiny: tinyText(declared, inherited.tiny),
    struck:
      inherited.struck ||
      /line-through/.test(declared.get('text-decoration') ?? declared.get('text-decoration-line') ?? ''),
    preformatted:
      whiteSpace === undefined
        ? inherited.preformatted || PREFORMATTED.has(name)
        : /^(?:pre|break-spaces)/.test(whiteSpace),
    block: /^(?:block|flex|grid|table|list-item)$/.test(declared.get('display') ?? ''),
  };
}

/** CSS declarations of a style attribute, lower-cased; of one given twice the last counts, `!important` before it. */
function declarations(style: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const important = new Set<string>();
  for (const declaration of style.slice(0, STYLE_MAX_CHARACTERS).toLowerCase().split(';')) {
    const colon = declaration.indexOf(':');
    if (colon < 0) continue;
    const name = declaration.slice(0, colon).trim();
    const mark = declaration.indexOf('!', colon);
    const value = declaration.slice(colon + 1, mark < 0 ? undefined : mark).trim();
    if (important.has(name) && mark < 0) continue;
    if (mark >= 0) important.add(name);
    found.set(name, value);
  }
  return found;
}

const isZero = (length: string | undefined): boolean =>
  length !== undefined && /^0(?:\.0+)?(?:[a-z]{2,4}|%)?$/.test(length);

/** A length of zero alone does not hide: cells of layout tables have one, and what is in them shows. */
function isHidden(style: ReadonlyMap<string, string>): boolean {
  if (style.get('display') === 'none' || style.get('visibility') === 'hidden' || isZero(style.get('opacity')))
    return true;
  const flat = isZero(style.get('max-height')) || isZero(style.get('height')) || isZero(style.get('max-width'));
  return flat && /^(?:hidden|clip)/.test(style.get('overflow') ?? '');
}

/** A preheader is written in no size and no line height; a size alone is often given anew by a style sheet. */
function tinyText(style: ReadonlyMap<string, string>, inherited: boolean): boolean {
  const size = style.get('font-size');
  if (size === undefined) return inherited;
  const none = isZero(size) || /^1(?:px|pt)$/.test(size);
  if (!none) return false;
  const line = style.get('line-height');
  return (
    inherited ||
    isZero(line) ||
    /^1(?:px|pt)$/.test(line ?? '') ||
    isZero(style.get('max-height')) ||
    style.get('color') === 'transparent'
  );
}
