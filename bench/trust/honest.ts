/**
 * `npm run bench:trust -- honest`: how many honest messages are held needlessly.
 *
 * - support: a customer writes, the agent answers with the order in question, house phrases and its signature; the
 *   customer answers with everything quoted, and the agent once more
 * - assistant: answers to mails of `test/mime/mails`, which were written as examples of real mail, with the whole quoted
 * - newsletters to subscribers, with links that count clicks on a domain of the organization
 * - offers that repeat the items of an order
 *
 * The dialogues are made of parts (people, products, problems, sentences), so they repeat each other more than real ones
 * and hold fewer surprises: the result is a lower bound of what real mail would give.
 */
import { newId } from '#core/platform/new-id.ts';
import { labelledMails, MAIL_SETS } from '#test/mime/labelled-mails.ts';
import type { TestMailbox } from '#test/support/api-world.ts';
import type { Outcome, TrustWorld } from './trust-world.ts';

const DIALOGUES = 260;
const ANSWERED_MAILS = 200;
const NEWSLETTERS = 15;
const SUBSCRIBERS = 4;
const OFFERS = 40;

let seed = 7;
function random(below: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}
const one = <Value>(of: readonly Value[]): Value => of[random(of.length)] as Value;
const some = (of: readonly string[], count: number): string =>
  [...of]
    .sort(() => random(3) - 1)
    .slice(0, count)
    .join(' ');

const FIRST = [
  'Ada',
  'Ben',
  'Chloe',
  'Dmitri',
  'Elif',
  'Farah',
  'Goran',
  'Hanna',
  'Ivo',
  'Jun',
  'Karim',
  'Lena',
  'Mateo',
  'Nora',
  'Omar',
];
const LAST = [
  'Achterberg',
  'Bianchi',
  'Castro',
  'Dahl',
  'Eriksen',
  'Fischer',
  'Garcia',
  'Horvat',
  'Ito',
  'Jansen',
  'Kowalski',
  'Lindqvist',
];
const PRODUCTS = [
  'kettle K200',
  'desk lamp Orion',
  'winter jacket Fjord',
  'coffee grinder G3',
  'bicycle pump Air',
  'office chair Nora',
  'tent Vega 2',
  'keyboard Slim',
  'water filter Pure',
  'rucksack Alto',
];
const PROBLEMS = [
  'arrived with a broken handle',
  'has not arrived although it was promised for last week',
  'does not switch on any more',
  'is smaller than I expected',
  'came in the wrong colour',
  'makes a loud noise when I use it',
  'was charged twice to my card',
  'lacks a part that is in the manual',
];
const ASIDES = [
  'I bought it as a present for my sister, who turns forty on Saturday.',
  'We have been customers of yours since you opened the shop in Utrecht.',
  'I tried the steps on your help page, without success.',
  'The courier left it in the rain in front of the garage.',
  'My neighbour has the same one and is very happy with it.',
  'I would rather keep it if there is a discount.',
  'Next week I am abroad, so please answer before Friday.',
  'The box had been opened and closed again with brown tape.',
  'I attach no picture because my telephone is being repaired.',
  'Could you also tell me whether the blue one will come back?',
];
const HOUSE = [
  'Thank you for writing to us, and please excuse the trouble.',
  'We send you a replacement today; it leaves our warehouse before six in the evening.',
  'You can return the item within thirty days, and the postage is on us.',
  'Please put the printed label on the outside of the parcel and hand it in at any post office.',
  'The refund reaches your account within five working days after the parcel is here.',
  'Our technician suggests to clean the filter with warm water and to let it dry for a night.',
  'The guarantee covers this for two years from the day of the purchase.',
  'We have asked the carrier and expect an answer by tomorrow noon.',
  'If you prefer a voucher, we add ten per cent to its value.',
  'The missing part is in the post and needs two to three days.',
];
const SIGNATURE =
  '\n\nKind regards\nThe support team of Acme Widgets\nAcme Widgets Limited, 14 Harbour Street, Portsmouth\nOrder hotline +44 2392 123456, VAT GB 123 4567 89';

const person = () => {
  const name = `${one(FIRST)} ${one(LAST)}`;
  const address = `${name.toLowerCase().replace(' ', '.')}${random(10_000)}@${one(['mail', 'post', 'inbox', 'letters', 'home'])}${random(400)}.example`;
  return { name, address };
};
const quoted = (name: string, text: string): string =>
  `\n\n${name} wrote:\n${text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')}`;

interface Counted {
  readonly sent: number;
  readonly held: number;
}

export async function sendHonestMail(
  world: TrustWorld,
  say: (text: string) => void,
): Promise<ReadonlyMap<string, Counted>> {
  const organization = await world.newOrganization({
    outboundConsent: 'off',
    carriedMail: 'hold',
    askAfterReadingMinutes: 10,
  });
  await world.api.sql(
    `insert into domains (id, organization_id, name, status, verification_token, dkim_selector, dkim_public_key, dkim_private_key_sealed)
     values ($1, $2, 'acme-widgets.example', 'verified', '', '', '', '')`,
    [newId('domain'), organization.id],
  );
  const support = organization.mailbox;
  const [assistant, news, sales] = [
    await world.api.newMailbox(organization),
    await world.api.newMailbox(organization),
    await world.api.newMailbox(organization),
  ];
  const counts = new Map<string, { sent: number; held: number }>();
  const count = (kind: string, outcome: Outcome, what: string): void => {
    const of = counts.get(kind) ?? { sent: 0, held: 0 };
    counts.set(kind, { sent: of.sent + 1, held: of.held + (outcome === 'left' ? 0 : 1) });
    if (outcome !== 'left') say(`${kind}: ${outcome}: ${what.slice(0, 300)}`);
  };
  const read = (mailbox: TestMailbox, id: string) =>
    world.api.call('GET', `/api/mailbox/messages/${id}?format=model`, { as: mailbox.token });

  for (let i = 0; i < DIALOGUES; i++) {
    const { name, address } = person();
    const order = 100_000 + random(900_000);
    const product = one(PRODUCTS);
    const first = `Hello,\n\nmy ${product} from order ${order} ${one(PROBLEMS)}. ${some(ASIDES, 2)}\n\nRegards\n${name}`;
    const id = await world.receive(support, { from: `${name} <${address}>`, subject: `Order ${order}`, text: first });
    await read(support, id);
    const answer = `Dear ${name},\n\n${some(HOUSE, 3)} It is about order ${order}, ${product}, isn't it?${SIGNATURE}${quoted(name, first)}`;
    count(
      'support',
      await world.send(support, { protocol: 'rest', to: [], subject: '', text: answer, answers: id }),
      answer,
    );
    const second = `Thanks. ${some(ASIDES, 1)} Please use the address ${1 + random(90)} ${one(LAST)} Road.${quoted('Acme Widgets', answer)}`;
    const again = await world.receive(support, {
      from: `${name} <${address}>`,
      subject: `Re: Order ${order}`,
      text: second,
    });
    await read(support, again);
    const last = `Dear ${name},\n\n${some(HOUSE, 2)}${SIGNATURE}${quoted(name, second)}`;
    count(
      'support',
      await world.send(support, { protocol: 'rest', to: [], subject: '', text: last, answers: again }),
      last,
    );
  }

  const mails = MAIL_SETS.flatMap((set) => labelledMails(set));
  for (let i = 0; i < ANSWERED_MAILS; i++) {
    const { subject, body } = mails[Math.floor((i * mails.length) / ANSWERED_MAILS)] ?? { subject: '', body: '' };
    const { name, address } = person();
    const isHtml = body.startsWith('<');
    const text = isHtml ? '' : body.replace(/^~~~plain\n|^~~~html\n[\s\S]*$/gm, '');
    const id = await world.receive(assistant, {
      from: `${name} <${address}>`,
      subject,
      ...(isHtml ? { html: body } : { text }),
    });
    await read(assistant, id);
    const words = `Hello ${name},\n\nthank you, I have seen it. ${some(HOUSE, 1)}`;
    const given = isHtml
      ? { text: words, html: `<p>${words}</p><blockquote>${body}</blockquote>` }
      : { text: `${words}${quoted(name, text)}` };
    count(
      'assistant',
      await world.send(assistant, { protocol: 'rest', to: [], subject: '', answers: id, ...given }),
      subject,
    );
  }

  for (let i = 0; i < NEWSLETTERS; i++) {
    const text = `${some(HOUSE, 4)} ${some(ASIDES, 2)}`;
    for (let k = 0; k < SUBSCRIBERS; k++) {
      const token = Buffer.from(`${i}-${k}-${random(2 ** 30)}-subscriber`).toString('base64url');
      const html = `<h1>News ${i}</h1><p>${text}</p><a href="https://news.acme-widgets.example/c/${token}">Read on</a> <a href="https://news.acme-widgets.example/unsubscribe?t=${token}">Unsubscribe</a><img src="https://news.acme-widgets.example/o/${token}.gif">`;
      count(
        'newsletters',
        await world.send(news, { protocol: 'smtp', to: [person().address], subject: `News ${i}`, text, html }),
        text,
      );
    }
  }

  for (let i = 0; i < OFFERS; i++) {
    const { name, address } = person();
    const items = Array.from(
      { length: 4 },
      () => `${1 + random(40)} x ${one(PRODUCTS)}, article ${10_000 + random(80_000)}`,
    );
    const id = await world.receive(sales, {
      from: `${name} <${address}>`,
      subject: `Request ${random(90_000)}`,
      text: `Good day,\n\nplease offer:\n${items.join('\n')}\n\n${some(ASIDES, 1)}\n${name}`,
    });
    await read(sales, id);
    const text = `Dear ${name},\n\nwe offer:\n${items.map((item) => `${item}: ${10 + random(400)}.50 EUR`).join('\n')}\n\nValid for thirty days.${SIGNATURE}`;
    count('offers', await world.send(sales, { protocol: 'mcp', to: [address], subject: 'Our offer', text }), text);
  }

  const all = [...counts.values()].reduce((sum, of) => ({ sent: sum.sent + of.sent, held: sum.held + of.held }), {
    sent: 0,
    held: 0,
  });
  for (const [kind, { sent, held }] of counts) say(`${kind}: ${held} of ${sent} held`);
  say(`honest messages held needlessly: ${all.held} of ${all.sent} (${((100 * all.held) / all.sent).toFixed(1)} %)`);
  return counts;
}
