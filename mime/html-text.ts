/** HTML turned into text. */
import { htmlContent } from './html-content.ts';

/** Text of an HTML document. Damaged documents give what can be read. */
export const textOfHtml = (html: string): string => htmlContent(html).text;
