/**
 * Why a document has no text that can be read:
 *
 * - `unsupported`: of another kind.
 * - `encrypted`: a password is needed.
 * - `damaged`: cut off, or not of the kind that it says.
 * - `too_complex`: it would take more time or memory than one document may have.
 */
export type DocumentProblemKind = 'unsupported' | 'encrypted' | 'damaged' | 'too_complex';

export class DocumentProblem extends Error {
  readonly kind: DocumentProblemKind;

  /** @param detail a sentence for people, without text of the document */
  constructor(kind: DocumentProblemKind, detail: string) {
    super(detail);
    this.name = 'DocumentProblem';
    this.kind = kind;
  }
}
