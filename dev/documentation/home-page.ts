import { html } from './html.ts';
import { codeBlock } from './markdown.ts';
import type { Page } from './page.ts';

const WAYS = [
  { href: '/docs/mcp', title: 'MCP', text: 'The mailbox as tools of an agent' },
  { href: '/docs/cli', title: 'Command line', text: 'For agents that run commands, and for people' },
  { href: '/docs/client', title: 'TypeScript', text: 'A typed client without dependencies' },
  { href: '/docs/api', title: 'REST', text: 'Every route, with snippets' },
  { href: '/docs/mail', title: 'IMAP, POP3, SMTP', text: 'Any mail program' },
  { href: '/docs/events', title: 'Webhooks', text: 'Signed events to your own server' },
];

const card = ({ href, title, text }: (typeof WAYS)[number]) =>
  html`<li><a href="${href}"><strong>${title}</strong><span>${text}</span></a></li>`;

/** @param pages all others: its lists are made from them */
export function homePage(pages: readonly Page[], serviceUrl: string): Page {
  const recipes = pages.filter(({ group }) => group === 'Recipes');
  const create = `curl ${serviceUrl}/api/mailboxes \\
  -H "x-organization-key: $API_KEY" \\
  -H "content-type: application/json" \\
  -d '{"name": "Order desk"}'`;
  const wait = `curl "${serviceUrl}/api/mailbox/messages/wait?extract=otp" \\
  -H "authorization: Bearer $MAILBOX_TOKEN"`;
  return {
    path: '/docs',
    title: 'Overview',
    group: 'Start',
    headings: [],
    content: html`<h1>Agent Mailbox</h1>
      <p class="lead">Real mailboxes for software agents: each agent has its own address and token, a person approves the first
      mail to every new recipient, and your systems receive signed events.</p>
      <h2 id="first-steps">First steps</h2>
      <p>Create a mailbox with an API key. The answer has its address, its token (this once) and the settings for mail programs.</p>
      ${codeBlock(create)}
      <p>With the token the agent waits for mail, and gets the one-time code in it.</p>
      ${codeBlock(wait)}
      <h2 id="recipes">Recipes</h2>
      <ul class="cards">${recipes.map((page) => card({ href: page.path, title: page.title, text: firstSentence(page) }))}</ul>
      <h2 id="connect">Ways to connect</h2>
      <ul class="cards">${WAYS.map(card)}</ul>
      <h2 id="reference">Reference</h2>
      <p><a href="/docs/errors">Every error</a> with what to do, <a href="/docs/events">every event</a>, and
      <a href="/openapi.json">the OpenAPI document</a> that the reference is made from, and the
      <a href="/asyncapi.json">AsyncAPI document</a> of the events.</p>`,
  };
}

function firstSentence({ content }: Page): string {
  const [, paragraph = ''] = /<p>([^]*?)<\/p>/.exec(content.text) ?? [];
  const text = paragraph.replaceAll(/<[^>]+>/g, '').replaceAll(/&[^;]+;/g, "'");
  return /^.*?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text;
}
