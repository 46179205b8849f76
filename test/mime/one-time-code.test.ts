import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { textOfHtml } from '#mime/html-content.ts';
import { oneTimeCode } from '#mime/one-time-code.ts';

/** Subject, text, and the code that a person would type. */
const MAILS: readonly (readonly [what: string, subject: string, text: string, code: string | null])[] = [
  [
    'six digits after a colon',
    'Sign in to Acme',
    'Hi Ann,\n\nYour verification code is: 482913\n\nIt expires in 10 minutes.',
    '482913',
  ],
  [
    'six digits alone on their line',
    'Acme',
    'Use the code below to sign in.\n\n  739204  \n\n© 2026 Acme Inc., 1455 Market Street, San Francisco, CA 94103',
    '739204',
  ],
  ['the code in the subject only', '204817 is your Acme code', 'Enter it in the app to go on.', '204817'],
  [
    'the code in subject and text',
    'Your Acme code: 551902',
    'Your code is 551902. Order 4711 is waiting. Call 555-0100.',
    '551902',
  ],
  ['a mark before the digits', 'Google Verification Code', 'G-739184 is your Google verification code.', '739184'],
  [
    'the next sentence says that it was deleted',
    'Acme',
    'We sent you the sign-in code 518204 to confirm your address. It has been cancelled.',
    null,
  ],
  [
    'the next sentence says that it was deleted, in German',
    'Code nicht verwendet',
    'Sie haben den Anmeldecode 518 204 nicht innerhalb von zehn Minuten eingegeben. Er wurde gelöscht.',
    null,
  ],
  [
    'the next sentence says when it will not work',
    'Acme',
    'Ihr Anmeldecode lautet 518204. Er ist danach nicht mehr gültig.',
    '518204',
  ],
  [
    'the next sentence says for what it is not',
    'Acme',
    'Your sign-in code is 518204. It is not valid for payments.',
    '518204',
  ],
  [
    'two codes, of which one no longer works and one is to be used',
    'Tu código nuevo',
    'Pediste otro código, así que el 774120 ya no sirve. Usa este: 350862.',
    '350862',
  ],
  ['a dash in the middle', 'GitLab', 'Your verification code: 123-456', '123456'],
  ['a space in the middle', 'Microsoft', 'Security code: 872 015', '872015'],
  ['eight digits with a dash', 'Bank', 'Your one-time passcode is 1234-5678. Never share it.', '12345678'],
  ['eight digits with a space', 'Bank', 'One-time code\n\n8412 9076\n\nvalid until 18:30', '84129076'],
  ['digits one by one', 'Slack', 'Your confirmation code\n\n4 8 1 5 1 6\n', '481516'],
  ['four digits', 'Parking', 'Your PIN is 8317', '8317'],
  ['four digits that could be a year', 'Acme', 'Your code is 2031.', '2031'],
  ['five digits', 'Chat', 'Login code: 40718. Do not give this code to anyone.', '40718'],
  [
    'letters and digits',
    'Steam',
    'Here is the code you need to login:\n\nK7R2P\n\nThis email was generated because of a login attempt.',
    'K7R2P',
  ],
  [
    'letters and digits with a dash',
    'Slack confirmation code: XJ4-9KQ',
    'Your confirmation code is below.\n\nXJ4-9KQ',
    'XJ4-9KQ',
  ],
  [
    'letters without a vowel in a sentence',
    'Your access code',
    'Your access code is ZDPHNK\n\nIt will expire in 15 minutes. Enter this on the page.',
    'ZDPHNK',
  ],
  ['two groups, one of letters', 'Your TV activation code', 'Enter this code: HJ4 KWP', 'HJ4KWP'],
  [
    'words with capitals',
    'Login code',
    'Copy and paste this temporary login code:\n\nlumen-KAVE-torq-WISP',
    'lumen-KAVE-torq-WISP',
  ],
  ['a name between the number and what it is', 'Sign in', '302914 is your GovAccess security code.', '302914'],
  [
    'behind the name of something else and "is"',
    'OTP',
    'Your OTP for the online transaction below is 703184.',
    '703184',
  ],
  [
    'behind a word that ends like a month',
    'Conferma la registrazione',
    'Conferma il tuo indirizzo, oppure digita nell’app il codice 3391 (valido 60 minuti).',
    '3391',
  ],
  ['what it is for instead of "is"', 'Вход', 'Код для входа 482913. Никому не сообщайте его.', '482913'],
  [
    'a membership number in brackets before the code',
    'Your verification code',
    'Use the following verification code to log in to your account (membership 0422 7718):\n\n771930',
    '771930',
  ],
  [
    'the number of an account behind its password',
    'Redefinição de senha',
    'Alguém solicitou a redefinição de senha da conta com RA 204418.',
    null,
  ],
  [
    'the PIN of a booking beside its number',
    'Your account - verification code',
    'You tried to sign in. Use this code:\n\nAB7734\n\nUpcoming stay: Hotel Miramar, confirmation number 3187.440.962, PIN 6028.',
    'AB7734',
  ],
  ['letters alone after a colon', 'Notion', 'Your temporary login code: QWZPLK', 'QWZPLK'],
  ['lower case with digits', 'Notion', 'Copy and paste this temporary login code:\n\na7k2m9\n', 'a7k2m9'],
  [
    'a price beside',
    'Your order',
    'Your order of $129.99 (1,299 points) needs a check. Verification code 660142.',
    '660142',
  ],
  [
    'a telephone number beside',
    'Acme',
    'Your code is 318205. Questions? Call +1 (415) 555-2671 or 415-555-2671.',
    '318205',
  ],
  ['a telephone number before', 'Acme', 'We saw a sign-in from +49 151 23456789. Your code: 907311', '907311'],
  [
    'years, dates and times beside',
    'Acme',
    'On 2026-11-21 at 19:30:12 somebody signed in. Enter code 190476 by 21.11.2026. © 2026 Acme',
    '190476',
  ],
  ['an order number beside', 'Order 7731902', 'Order #7731902 is nearly done.\nVerification code: 4471', '4471'],
  [
    'a ticket and an account',
    'Support',
    'Ticket 558210, account ending in 4242. Your security code is 771034.',
    '771034',
  ],
  ['an IP address beside', 'New device', 'From 203.0.113.77, Berlin 10115. Your code is 662190', '662190'],
  ['a long life in seconds', 'Acme', 'Your code 118842 is valid for 3600 seconds.', '118842'],
  [
    'a link with digits beside',
    'Acme',
    'Your code is 505617, or open https://acme.example/verify/998877?c=123456',
    '505617',
  ],
  ['full-width digits', 'ログイン', '認証コード:123456\nこのコードの有効期限は10分です。', '123456'],
  ['invisible characters between', 'Acme', 'Your code is 4\u200b8\u200b2\u200b9\u200b1\u200b3', '482913'],
  [
    'German',
    'Ihr Anmeldecode',
    'Guten Tag,\n\nIhr Bestätigungscode lautet 604 118.\n\nKundennummer 883214. Gültig 15 Minuten.',
    '604118',
  ],
  [
    'German TAN',
    'TAN für Ihren Auftrag',
    'Betrag 1.250,00 EUR an DE89 3704 0044 0532 0130 00.\nIhre TAN: 441809',
    '441809',
  ],
  ['French', 'Votre code', 'Votre code de vérification est le 338172. Il expire dans 20 minutes.', '338172'],
  ['Spanish', 'Acceso', 'Tu código de verificación es 776201. No lo compartas.', '776201'],
  ['Italian', 'Accesso', 'Il tuo codice di verifica è: 290114', '290114'],
  ['Portuguese', 'Acesso', 'Seu código de acesso: 551 209', '551209'],
  ['Dutch', 'Inloggen', 'Je verificatiecode is 810233', '810233'],
  ['Polish', 'Logowanie', 'Twój kod weryfikacyjny: 447120', '447120'],
  ['Swedish', 'Engångskod', 'Din engångskod är 661827 och gäller i 5 minuter.', '661827'],
  ['Turkish', 'Giriş', 'Doğrulama kodunuz: 918273', '918273'],
  ['Russian', 'Вход', 'Ваш код подтверждения: 552871. Никому не сообщайте его.', '552871'],
  ['Chinese', '登录验证', '您的验证码是 837465,5分钟内有效。', '837465'],
  ['Chinese without a space', '登录', '【Acme】验证码:293847,请勿泄露。', '293847'],
  ['Japanese', 'ご本人確認', '確認コード\n\n582013\n\nお問い合わせ 03-1234-5678', '582013'],
  ['Korean', '인증', '인증번호는 [402918] 입니다.', '402918'],
  ['Arabic', 'رمز التحقق', 'رمز التحقق الخاص بك هو 716204', '716204'],
  ['Hebrew', 'קוד', 'קוד האימות שלך: 330914', '330914'],
  ['a code in brackets', 'Acme', 'Your Acme verification code [773218]', '773218'],
  ['a bold code', 'Acme', 'Enter **640 913** as your verification code.', '640913'],
  [
    'groups in cells of a table',
    'Sign in',
    'To sign in, enter the code:\n12\t40\t95\nNobody will ask for it.',
    '124095',
  ],
  ['a place behind it', 'Confirm that it is you', 'Enter 7082 15 on the page to sign in.', '708215'],
  ['a heading that says what for', 'Join us: verify your email', 'Verify your email\n\n2290\n\nExpires soon.', '2290'],
  ['the word after it', 'Acme', '905512 is your one-time password for Acme.', '905512'],

  [
    'an order and a price, no code',
    'Your order 4711',
    'Order 471193 for 49.90 EUR was sent on 12.11.2026. Tracking 1234567890.',
    null,
  ],
  ['a newsletter', 'Black Friday 2026', 'Save 50 % until 2026-11-30. Over 10000 items! © 2026 Acme', null],
  ['a voucher', 'For you', 'Your discount code: SAVE20NOW', null],
  [
    'talk about code',
    'Review',
    'Can you look at the code in pull request 48213 before 2027? Line 1024 fails with error code 1205.',
    null,
  ],
  ['a telephone number alone', 'Call me', 'My number is 555 0100 or +44 20 7946 0958.', null],
  ['a meeting', 'Invitation', 'Meeting on 21 November 2026 at 14:30, room 4711.', null],
  [
    'an invoice',
    'Invoice 2026-1183',
    'Invoice number 20261183, amount due 1299 EUR, IBAN DE89370400440532013000',
    null,
  ],
  [
    'a code somebody else is quoted with',
    'Scams',
    'They write "Your code is 551 204, do not share it" and wait.',
    null,
  ],
  ['a figure of a report', 'Weekly figures', 'One-time code requests: 88204. Failures: 118.', null],
  ['a contest', 'Play and win', 'Enter the code 20441 on our page and win a prize. The contest ends on Friday.', null],
  ['a build', 'Build 20417 failed', 'sign-in-code.spec: expected "904417", received "904418"', null],
  ['a mark in brackets', '[HELP-4418] Login code rejected', 'The customer got no code.', null],
  ['a year behind ©', 'Sign in to Acme', 'Use the button to sign in. Do not share it.\n\n© 2026 Acme', null],
  ['a code said to be nothing more', 'Hello', 'The code 4471 in module 12 fails.', null],
  ['nothing at all', '', '', null],
];

describe('the one-time code of a mail', () => {
  for (const [what, subject, text, code] of MAILS)
    test(`${what}: ${code ?? 'none'}`, () => assert.equal(oneTimeCode({ subject, text }), code));

  test('in HTML alone, split over table cells and hidden before a preview text', () => {
    const html = `<html><head><style>.a{color:#336699}</style></head><body>
      <div style="display:none">Preview 2026</div><table><tr><td><h1>Verify your email</h1></td></tr>
      <tr><td>Your verification code is:</td></tr>
      <tr><td style="font-size:32px;letter-spacing:8px"><b>613 774</b></td></tr>
      <tr><td>Acme GmbH, Hauptstr. 12, 10827 Berlin, HRB 123456</td></tr></table></body></html>`;
    assert.equal(oneTimeCode({ subject: 'Acme', text: textOfHtml(html) }), '613774');
  });

  test('costs little in a mail made to cost much', () => {
    for (const piece of ['1 ', '123-', 'A1-', 'code: ', '€', '12.', 'no. ', 'code 1 2 3 ', '1234;'])
      oneTimeCode({ subject: piece.repeat(10_000), text: piece.repeat(500_000) });
  });

  test('costs little in a mail without numbers: words are looked for only around what may be a code', () => {
    const words = 'The quick brown fox jumps over the lazy dog near the old mill.';
    const cpuMs = (line: string): number => {
      const text = `${line}\n`.repeat(70);
      const times = Array.from({ length: 5 }, () => {
        const before = process.cpuUsage();
        for (let i = 0; i < 20; i++) oneTimeCode({ subject: 'News', text });
        const { user, system } = process.cpuUsage(before);
        return (user + system) / 1_000;
      });
      return Math.min(...times);
    };
    const ratio = cpuMs(`${words} 482913`) / cpuMs(words);
    assert.ok(ratio > 3, `a mail with numbers takes ${ratio.toFixed(1)} times as long as one without`);
  });
});
