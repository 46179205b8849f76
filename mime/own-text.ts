/**
 * What a mail itself says: its text without mail that it quotes. Codes and links of quoted mail are those of another
 * mail. A forwarded mail is what its sender wants to show, so nothing of it is left out.
 */
import { unquotedText } from './reply-text.ts';

/** How subjects of answers and of forwarded mail begin, after the name of a list and other such marks. */
const MARKS = /^(?:\s*\[[^\]]{1,60}\])*\s*/u;
const ANSWER =
  /^(?:re|aw|antw?|antwort|sv|vs|res|r|rif|odp|ynt|yan|vá|bls|atb|ref|回复|答复|回覆|答覆|返信|답장|회신|ответ|відп|σχετ|απ|תגובה|השב|رد|पुनः)(?:\s?\[\d+\])?\s?[:：]/iu;
const FORWARD =
  /^(?:fwd?|forwarded|weitergeleitet|transféré|reenviado|inoltrato|encaminhad[oa]|doorgestuurd|vidarebefordrat|videresendt?|välitetty|przekazano|přeposláno|wg|tr|rv|enc|i|doorst|vb|vl|vid|pd|přep|ilt|továbbítás|transf|转发|轉寄|轉發|転送|전달|пересл|fw|προώθ|הועבר|إعادة توجيه)\s?[:：]/iu;
/** The line above a forwarded mail. */
const FORWARDED_MAIL =
  /^(?:-{2,12} ?|begin )(?:forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado|messaggio inoltrato|mensagem encaminhada|doorgestuurd bericht|przekazana wiadomość|vidarebefordrat meddelande|videresendt? (?:besked|melding)|välitetty viesti|přeposlaná zpráva|továbbított levél|mesaj redirecționat|iletilen mesaj|пересылаемое сообщение|переслане повідомлення|转发的?邮件|轉寄的?郵件|転送されたメッセージ|전달된 메시지|הודעה שהועברה|رسالة معاد توجيهها)/imu;
/** Longer text of a mail is not looked at for codes. */
const LOOKED_AT_CHARACTERS = 65_536;

/** The text itself where it quotes nothing. */
export function ownText(subject: string, text: string): string {
  const title = subject.replace(MARKS, '');
  if (FORWARD.test(title)) return text;
  const looked = text.slice(0, LOOKED_AT_CHARACTERS);
  const isAnswer = ANSWER.test(title);
  if (!isAnswer && FORWARDED_MAIL.test(looked)) return text;
  const own = unquotedText(looked);
  if (own === '') return isAnswer ? '' : text;
  // Lines with a mark alone may be set off by the author: quoted mail has a line above it that says whose it is.
  const unmarked = looked.split('\n').filter((line) => !line.startsWith('>'));
  return isAnswer || own.length < unmarked.join('\n').trim().length ? own : text;
}
