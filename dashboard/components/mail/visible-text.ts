import { nameUnseen } from './unseen-characters.ts';

/** A text of somebody else with its invisible characters named, so that it reads as what it is. */
export const visibleText = (text: string): string =>
  nameUnseen(text.replaceAll('\r\n', '\n').replaceAll('\r', '⟨U+000D⟩'), (name) => `⟨${name}⟩`);
