import type { Html } from './html.ts';
import type { Heading } from './markdown.ts';

/** A page of the documentation. */
export interface Page {
  /** Address, `/docs/cli`. */
  readonly path: string;
  readonly title: string;
  /** Of the navigation; pages without one are reached by links and by the search. */
  readonly group?: string;
  /** As the navigation calls it; default: the title. */
  readonly shortTitle?: string;
  readonly content: Html;
  /** Of its table of contents. */
  readonly headings: readonly Heading[];
  /** Resources use the whole width: text on the left, code on the right. */
  readonly isWide?: boolean;
}
