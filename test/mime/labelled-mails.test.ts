import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { contentOf, labelledMails, MAIL_SETS, score } from './labelled-mails.ts';

/*
 * What each set showed when it was measured for the first time, before the rules were corrected by it. Of all mails:
 * wrong codes, false codes (there is none), wrong or false links; of all expected codes and links: missed.
 *
 *   set               mails  expected  wrong  false  links  missed
 *   held-out-fifth      267       183      2      3      1      19
 *   held-out-sixth      196       124      0      4      0      13
 *   held-out-seventh    142        95      0      3      0       5
 *   held-out-eighth     102        69      1      2      1       2
 *   held-out-ninth       87        55      1      1      1       2
 *   held-out-tenth      200       121      1      5      4       9
 *   held-out-eleventh   174       101      0      5      2      15
 *   held-out-twelfth    163       103      0      1      1       4
 *   held-out-thirteenth 158       102      0      4      0       3
 *   held-out-fourteenth 152        94      0      2      0      10
 *   held-out-fifteenth  156        95      0      0      0       3
 *   held-out-sixteenth   77        32      1      7      0       3
 *   held-out-seventeenth 100       72      1      1      3       2
 *   held-out-eighteenth 100        69      0      1      3       1
 *   held-out-nineteenth 100        68      1      0      3       2
 *   held-out-twentieth  150       109      1      1      1       3
 *   held-out-twenty-first 150     104      0      0      5       4
 *   held-out-twenty-second 150    111      0      0      1       2
 *   held-out-twenty-third 150     105      0      0      2       4
 *   held-out-twenty-fourth 150    113      0      0      1      1
 *   held-out-twenty-fifth 150     108      0      0      0      4
 *   held-out-twenty-sixth  66      40      0      4      0      1
 *   held-out-twenty-seventh 65     38      8      5      2      2
 *   held-out-twenty-eighth 61      35      1      7      0      4
 *   held-out-twenty-ninth  57      36      0      1      2      0
 *   held-out-thirtieth     60      43      0      1      0      5
 *   held-out-thirty-first  85      50      0      0      0      5
 *   held-out-thirty-second 49      31      0      4      0      5
 *   held-out-thirty-third  43      16      0      6      0      3
 *
 * From the tenth on the sets are written to be unlike those before, with more mails that talk of codes. In the fifth
 * and sixth five mails name the page where their code is typed (`link: page`); that was not foreseen in
 * their expectations, and they are not counted as wrong. No link that declines came first in any.
 *
 * The sets from the seventeenth on were written without a look at the rules: ordinary mails in 18 languages. They show
 * best what to expect of mails that nobody has measured. The nineteenth, twentieth and twenty-first were measured with
 * the same rules; the twenty-second after these were corrected by them, and the twenty-third after the twenty-second. The last
 * two were measured after all of these with the present rules, which were not corrected by them.
 * From the twenty-sixth on the sets are hostile: codes that have expired or were replaced, quoted mail, reports of errors,
 * digests, lists of backup codes, codes in images, dashes of every kind, PINs of three characters. The twenty-sixth is the
 * half of 131 mails that was put aside at random, the other half is `tuning-second`; with the rules before, 28 of its 66
 * mails were read wrongly and 19 codes were missed. Each of the next three was written after the rules were corrected by the
 * one before it, in other words and forms. The thirtieth was written by somebody who had not seen the rules. Three of the five codes
 * that it misses are handed to a courier or typed at a parcel locker; such codes are left out on purpose.
 * The thirty-first to thirty-third have mails that never name their code, and numbers that look like such codes. Each was written before the
 * rules were corrected by it, and after they were corrected by the one before. With the rules before all three they
 * showed 0, 1 and 2 false codes, and 5, 9 and 6 missed ones.
 * The thirty-fourth was written without a look at the rules or lists: ordinary mails in 17 languages, more than half of them
 * with order, invoice, case and queue numbers and no code. It was measured once; neither these rules nor those before missed or
 * mistook anything. The thirty-fifth has the hostile kinds again, by the same author; its false code is one that "was used to
 * sign in".
 * In the nineteenth a link for "this was not me" was taken for one that resets.
 */
const WRONG_MAX_SHARE = 0.005;
const MISSED_MAX_SHARE = 0.03;
const UNNAMED_SETS = ['held-out-thirty-first', 'held-out-thirty-second', 'held-out-thirty-third'] as const;

describe('codes and links of mails in 33 languages', () => {
  for (const [name, sets] of [
    ['the rules were made with', ['tuning', 'tuning-second']],
    ['that were put aside', ['held-out', 'held-out-second', 'held-out-third', 'held-out-fourth']],
    ['that were written last', MAIL_SETS.slice(MAIL_SETS.indexOf('held-out-fifth'))],
  ] as const)
    test(`of the mails ${name}, at most 1 in 200 is read wrongly and less than 3 % is missed`, () => {
      const { mails, withCode, withLink, wrong, missed } = score(sets.flatMap(labelledMails));
      const report = [...wrong.map((one) => `wrong: ${one}`), ...missed.map((one) => `missed: ${one}`)].join('\n');
      assert.ok(wrong.length <= mails * WRONG_MAX_SHARE, `${wrong.length} of ${mails} wrong\n${report}`);
      assert.ok(missed.length < (withCode + withLink) * MISSED_MAX_SHARE, `${missed.length} missed\n${report}`);
    });

  test('where often no word names the code, 95 % are found, and at most 1 in 100 mails gives a wrong one', () => {
    const { mails, withCode, wrong, missed } = score(UNNAMED_SETS.flatMap(labelledMails));
    assert.deepEqual({ mails, withCode }, { mails: 177, withCode: 97 });
    assert.ok(wrong.length <= mails * 0.01, wrong.join('\n'));
    assert.ok(missed.length <= withCode * 0.05, missed.join('\n'));
  });

  test('a link that declines or unsubscribes never comes before one that the mail asks to follow', () => {
    for (const mail of MAIL_SETS.flatMap(labelledMails)) {
      if (!mail.body.startsWith('<')) continue;
      const kinds = contentOf(mail).links.map(({ kind }) => kind);
      const stop = kinds.findIndex((kind) => kind === 'decline' || kind === 'unsubscribe');
      if (stop !== -1)
        assert.ok(
          kinds.slice(stop).every((kind) => kind === 'decline' || kind === 'unsubscribe'),
          mail.name,
        );
    }
  });

  test('there are at least 400, of every kind and with none of each in no language', () => {
    const mails = MAIL_SETS.flatMap(labelledMails);
    assert.ok(mails.length >= 400, `${mails.length}`);
    const languages = new Set(mails.map(({ name }) => name.split(' ')[0]));
    assert.equal(languages.size, 33);
    for (const language of languages) {
      const own = mails.filter(({ name }) => name.startsWith(`${language} `));
      assert.ok(own.some(({ codes }) => codes.length > 0) && own.some(({ link }) => link !== undefined), language);
    }
  });
});
