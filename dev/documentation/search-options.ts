/** The search: how the build makes the index, and how the page asks it. */
import type { Options } from 'minisearch';

export interface SearchEntry {
  /** Address of the section. */
  readonly id: string;
  readonly title: string;
  /** Title of its page. */
  readonly page: string;
  readonly excerpt: string;
  readonly text: string;
}

/** Names such as `outbound_consent_denied` and `createMailbox` are found by each of their words too. */
function words(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => {
    const parts = word.split(/_|(?<=[a-z])(?=[A-Z])/u).filter((part) => part !== '');
    return parts.length > 1 ? [word, ...parts] : parts;
  });
}

export const SEARCH_OPTIONS: Options<SearchEntry> = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page', 'excerpt'],
  tokenize: words,
  searchOptions: {
    boost: { title: 4, page: 2 },
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    combineWith: 'AND',
  },
};
