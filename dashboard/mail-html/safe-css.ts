/** What of a sender's CSS is kept: how text, boxes and tables look. Nothing that loads, covers, or calls by name. */

const PROPERTIES =
  /^(?:color|background-color|opacity|visibility|display|float|clear|direction|vertical-align|text-[a-z-]+|font(?:-[a-z-]+)?|line-height|letter-spacing|word-[a-z-]+|white-space(?:-[a-z-]+)?|overflow-wrap|list-style-(?:type|position)|(?:margin|padding)(?:-[a-z-]+)?|border(?:-(?!image)[a-z-]+)?|outline(?:-[a-z-]+)?|(?:min-|max-)?(?:width|height)|box-sizing|table-layout|caption-side|empty-cells|align-[a-z]+|justify-[a-z]+|flex(?:-[a-z]+)?|order|gap|row-gap|column-gap|object-fit)$/;
/** Functions that load or refer to something, in the spelling of a parsed declaration; sizes that follow the frame's. */
const REFUSED_VALUE =
  /(?:url|src|image|image-set|cross-fade|element|paint|expression|var|env|attr|-moz-[a-z-]+)\s*\(|javascript:|\d[sld]?v(?:[whib]|min|max)\b|\d{5}/i;
const PSEUDO_CLASSES = /:(?!(?:hover|active|focus|link|root|first-child|last-child)\b)/;
const SELECTOR_MAX_CHARACTERS = 300;
const SELECTOR_PARTS_MAX = 12;
const RULES_MAX = 1_000;
const STYLE_MAX_CHARACTERS = 300_000;

/** The declarations that are kept, as text. The browser has parsed them, so escapes are no hiding place. */
export function safeDeclarations(style: CSSStyleDeclaration): string {
  const kept: string[] = [];
  for (const name of style) {
    const value = style.getPropertyValue(name);
    if (value === '' || !PROPERTIES.test(name) || REFUSED_VALUE.test(value)) continue;
    const important = style.getPropertyPriority(name) === 'important' ? ' !important' : '';
    kept.push(`${name}: ${value}${important}`);
  }
  return kept.join('; ');
}

const isPlainSelector = (selector: string): boolean =>
  selector.length <= SELECTOR_MAX_CHARACTERS &&
  !PSEUDO_CLASSES.test(selector) &&
  selector.split(/[\s>+~]+/).length <= SELECTOR_PARTS_MAX;

/**
 * The rules of a style sheet that are kept, as text.
 *
 * @param view window whose parser reads it
 */
export function safeStyleSheet(css: string, view: Window & typeof globalThis): string {
  if (css.length > STYLE_MAX_CHARACTERS) return '';
  const sheet = new view.CSSStyleSheet();
  // The parser complains of @import on the console, though it ignores the rule.
  sheet.replaceSync(css.replace(/@import\b/gi, '@ignored'));
  const kept: string[] = [];
  keepRules(sheet.cssRules, view, kept);
  return kept.join('\n');
}

function keepRules(rules: CSSRuleList, view: Window & typeof globalThis, kept: string[]): void {
  for (const rule of rules) {
    if (kept.length >= RULES_MAX) return;
    if (rule instanceof view.CSSStyleRule) {
      const declarations = isPlainSelector(rule.selectorText) ? safeDeclarations(rule.style) : '';
      if (declarations !== '') kept.push(`${rule.selectorText} { ${declarations} }`);
    } else if (rule instanceof view.CSSMediaRule) {
      const inner: string[] = [];
      keepRules(rule.cssRules, view, inner);
      if (inner.length > 0) kept.push(`@media ${rule.media.mediaText} { ${inner.join('\n')} }`);
    }
  }
}
