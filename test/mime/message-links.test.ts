import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LINKS_MAX } from '#domain/mail/mail-limits.ts';
import { htmlContent } from '#mime/html-content.ts';
import { messageLinks } from '#mime/message-links.ts';

const inText = (text: string) => messageLinks({ subject: '', text, links: [], code: null });
const inHtml = (html: string) => messageLinks({ subject: '', ...htmlContent(html), code: null });
const urls = (links: readonly { url: string }[]) => links.map(({ url }) => url);

describe('the links of a mail', () => {
  test('those that ask to be followed come first, unsubscribing last, by their words in several languages', () => {
    const kinds = [
      ['Unsubscribe', 'unsubscribe'],
      ['Vom Newsletter abmelden', 'unsubscribe'],
      ['Se désabonner', 'unsubscribe'],
      ['Our blog', 'other'],
      ['Verify your email', 'confirm'],
      ['E-Mail-Adresse bestätigen', 'confirm'],
      ['Confirmer mon adresse', 'confirm'],
      ['メールアドレスを確認', 'confirm'],
      ['Accept invitation', 'confirm'],
      ['Sign in to Acme', 'sign_in'],
      ['Jetzt anmelden', 'sign_in'],
      ['Reset password', 'reset'],
      ['Passwort zurücksetzen', 'reset'],
    ] as const;
    for (const [words, kind] of kinds)
      assert.equal(inHtml(`<a href="https://x.example/a?b=c">${words}</a>`)[0]?.kind, kind, words);
    const mail = inHtml(kinds.map(([words], i) => `<p><a href="https://x.example/${i}">${words}</a></p>`).join('')).map(
      ({ kind }) => kind,
    );
    assert.deepEqual(mail.slice(0, 5), Array(5).fill('confirm'));
    assert.deepEqual(mail.slice(-3), Array(3).fill('unsubscribe'));
  });

  test('where the words say nothing the address does', () => {
    const [confirm, signIn, none] = inText(
      'https://x.example/verify-email/abc https://x.example/auth/magic-link?t=1 https://x.example/',
    );
    assert.deepEqual([confirm?.kind, signIn?.kind, none?.kind], ['confirm', 'sign_in', 'other']);
    assert.equal(inText('https://unsubscribe.x.example/u/1')[0]?.kind, 'unsubscribe');
  });

  test('only those that are for what the mail asks', () => {
    const first = (subject: string, html: string, code: string | null = null) =>
      messageLinks({ subject, ...htmlContent(html), code })[0]?.kind;
    const signIn = '<p>News</p><a href="https://x.example/click?u=aB3xY9kLm">Log in</a>';
    assert.equal(first('Weekly digest', signIn), 'other');
    assert.equal(first('Log in to Acme', signIn), 'sign_in');
    const reset = '<p>Your code is below.</p><a href="https://x.example/password?k=aB3xY9kLm">Change your password</a>';
    assert.equal(first('Your sign-in code', reset, '482913'), 'other');
    assert.equal(first('Reset your password', reset, '482913'), 'reset');
    const page = (path: string) => `<p>Sign in here:</p><a href="https://x.example/${path}">Sign in</a>`;
    assert.equal(first('Sign in to Acme', page('settings/login'), '482913'), 'other');
    assert.equal(first('Sign in to Acme', page('login?token=a8f1'), '482913'), 'sign_in');
    assert.equal(first('Sign in to Acme', page('help/login?id=88210347')), 'other');
    assert.equal(first('Sign in to Acme', page('agreement-2026.pdf')), 'other');
    const accept = '<a href="https://x.example/click?u=aB3xY9kLm">Accept</a><p>Confirm your address with the code.</p>';
    assert.equal(first('Your Acme code', accept, '482913'), 'other');
    const appointment = '<a href="https://x.example/a?u=aB3xY9kLm">Confirm</a>';
    assert.equal(first('Your appointment on Monday', appointment), 'other');
  });

  test('one that carries the code does what the code does', () => {
    const [link] = messageLinks({
      subject: 'Reset your password: 829156',
      text: 'Or open this:\nhttps://x.example/r?n=829156',
      links: [],
      code: '829156',
    });
    assert.equal(link?.kind, 'reset');
  });

  test('each once, with the words of the HTML, entities decoded', () => {
    const links = messageLinks({
      subject: '',
      text: 'Confirm: https://x.example/c?a=1&b=2\nSee https://y.example/.',
      links: htmlContent(
        '<a href="https://x.example/c?a=1&amp;b=2"><span>Confirm</span> <b>now</b></a> <a href="https://x.example/c?a=1&amp;b=2"><img src="p.png" alt="Logo"></a>',
      ).links,
      code: null,
    });
    assert.deepEqual(links, [
      { url: 'https://x.example/c?a=1&b=2', text: 'Confirm now', kind: 'confirm', confidence: 0.9 },
      { url: 'https://y.example/', text: null, kind: 'other', confidence: 0.2 },
    ]);
  });

  test('images, pixels, mail addresses, scripts, anchors and relative addresses are none', () => {
    assert.deepEqual(
      inHtml(
        '<img src="https://t.example/open.gif?u=1" width="1" height="1"><a href="mailto:a@b.c">m</a><a href="javascript:alert(1)">j</a><a href="#top">t</a><a href="/x">r</a><a href="data:text/html,x">d</a><a>n</a><a href="https://">e</a><style>a{background:url(https://t.example/x)}</style>',
      ),
      [],
    );
  });

  test('punctuation around a link in text is none of it, brackets inside it are', () => {
    assert.deepEqual(
      urls(
        inText(
          '(see https://x.example/a), <https://x.example/b>, "https://x.example/c". https://x.example/wiki/A_(b) [https://x.example/d]! https://x.example/e、',
        ),
      ),
      ['a', 'b', 'c', 'wiki/A_(b)', 'd', 'e'].map((path) => `https://x.example/${path}`),
    );
  });

  test('an image link is known by its alternative text', () => {
    assert.deepEqual(inHtml('<a href="https://x.example/1"><img src="b.png" alt="Activate account"></a>'), [
      { url: 'https://x.example/1', text: 'Activate account', kind: 'confirm', confidence: 0.9 },
    ]);
  });

  test('are at most fifty, and a mail made to cost much costs little', () => {
    assert.equal(inText(`https://x.example/${'),'.repeat(4_000)} `)[0]?.url, 'https://x.example/');
    inText(`https://x.example/${')'.repeat(8_000)} `.repeat(32));
    const behind = (count: number) =>
      inHtml(`${'<b>'.repeat(count)}${'</b>'.repeat(count)}<a href="https://x.example/1">1</a>`).length;
    assert.deepEqual([behind(1_000), behind(30_000)], [1, 1], 'depth hides no link');
    assert.equal(inText(Array.from({ length: 500 }, (_, i) => `https://x.example/${i}`).join(' ')).length, LINKS_MAX);
    for (const piece of [
      '<a href="https://x.example/">',
      'https://x.example/((((',
      'https://x.example/))))) ',
      '<b>',
      '\u0001\u0002',
      '<a href=x>',
    ])
      messageLinks({
        subject: piece.repeat(1_000),
        text: piece.repeat(50_000),
        links: htmlContent(piece.repeat(50_000)).links,
        code: null,
      });
  });
});
