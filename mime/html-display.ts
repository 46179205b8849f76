/** How an element of an HTML document is shown, by its name and its own attributes; style sheets are not read. */

/** Colours of text and of what is behind it, as `#rrggbb`. Null: not known. */
interface Ground {
  readonly color: string | null;
  readonly background: string | null;
}

export interface ElementDisplay extends Ground {
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
  /** A person does not see its text, whether it is `seen` or not; what is in elements that are never shown is not meant. */
  readonly concealed: boolean;
}

const SHOWN: ElementDisplay = {
  seen: true,
  tiny: false,
  struck: false,
  preformatted: false,
  block: false,
  concealed: false,
  color: null,
  background: null,
};
/** The display around the outermost elements. A style sheet may give any element a background. */
export const pageDisplay = (html: string): ElementDisplay => ({
  ...SHOWN,
  background: STYLE_SHEET.test(html) ? null : WHITE,
});
const STYLE_SHEET = /<style/i;

const HIDDEN: ElementDisplay = { ...SHOWN, seen: false };
const CONCEALED: ElementDisplay = { ...HIDDEN, concealed: true };
const STRUCK = new Set(['s', 'strike', 'del']);
const PREFORMATTED = new Set(['pre', 'textarea', 'xmp', 'listing', 'plaintext']);
const STYLE_MAX_CHARACTERS = 4_096;

/**
 * @param outside of the element around it
 * @param unseen names of elements that are never shown
 */
export function displayOf(
  name: string,
  attributes: ReadonlyMap<string, string>,
  outside: ElementDisplay,
  unseen: ReadonlySet<string>,
): ElementDisplay {
  if (unseen.has(name)) return HIDDEN;
  if (!outside.seen) return outside;
  if (attributes.has('hidden')) return CONCEALED;
  const inherited = STRUCK.has(name) && !outside.struck ? { ...outside, struck: true } : outside;
  const style = attributes.get('style');
  const [color, background] = [attributes.get('color'), attributes.get('bgcolor')];
  if (style === undefined && color === undefined && background === undefined) {
    if (PREFORMATTED.has(name)) return { ...inherited, preformatted: true, block: false };
    return inherited.block ? { ...inherited, block: false } : inherited;
  }
  const declared = declarations(style ?? '');
  if (isHidden(declared)) return CONCEALED;
  const whiteSpace = declared.get('white-space');
  const ground = groundOf(declared, { color, background }, inherited);
  return {
    ...ground,
    seen: true,
    concealed: inherited.concealed || isAside(declared) || isInvisible(ground),
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

/** Beside the page, cut away, or so small that nobody reads it. */
function isAside(style: ReadonlyMap<string, string>): boolean {
  const far = (length: string | undefined) =>
    length !== undefined && /^-\d{3,5}(?:\.\d{1,4})?(?:px|em|rem|pt|vw)$/.test(length);
  const position = style.get('position');
  const isTaken = position === 'absolute' || position === 'fixed';
  if (far(style.get('text-indent')) || (isTaken && (far(style.get('left')) || far(style.get('top'))))) return true;
  if (isTaken && /^rect\(\s?[01]?(?:px)?[\s,]/.test(style.get('clip') ?? '')) return true;
  const size = style.get('font-size');
  return size !== undefined && /^(?:0?\.[0-4]\d?|1)(?:px|pt)$/.test(size);
}

const WHITE = '#ffffff';
const NAMED: Readonly<Record<string, string>> = { white: WHITE, black: '#000000', snow: WHITE, '#fefefe': WHITE };

/** A colour as `#rrggbb`; null: it is something else, such as a picture. */
function colorOf(value: string): string | null {
  const given = value.trim().toLowerCase();
  const named = NAMED[given];
  if (named !== undefined) return named;
  if (/^#[0-9a-f]{6}$/.test(given)) return given;
  if (/^#[0-9a-f]{3}$/.test(given)) return given.replace(/[0-9a-f]/g, '$&$&');
  const [, ...parts] = /^rgb\((\d{1,3}),? ?(\d{1,3}),? ?(\d{1,3})\)$/.exec(given) ?? [];
  return parts.length < 3 ? null : `#${parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`;
}

function groundOf(
  style: ReadonlyMap<string, string>,
  attributes: { readonly color: string | undefined; readonly background: string | undefined },
  outside: Ground,
): Ground {
  const color = style.get('color') ?? attributes.color;
  const background = style.get('background-color') ?? style.get('background') ?? attributes.background;
  const isOver = style.has('position') || style.has('background-image');
  return {
    color: color === undefined || color === 'inherit' ? outside.color : colorOf(color),
    // What is moved may be above anything.
    background: isOver
      ? null
      : background === undefined || /^(?:inherit|none|transparent|initial)$/.test(background)
        ? outside.background
        : colorOf(background),
  };
}

const isInvisible = ({ color, background }: Ground): boolean => color !== null && color === background;

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
