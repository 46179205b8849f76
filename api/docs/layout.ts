import { type Html, html } from './html.ts';

export interface NavigationGroup {
  readonly title: string;
  readonly links: readonly { readonly href: string; readonly text: string; readonly method?: string }[];
}

/** A whole page: sidebar and content, without anything from other hosts and without scripts. */
export const layout = (title: string, navigation: readonly NavigationGroup[], content: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Agent Mailbox</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<nav>
<a class="brand" href="/docs">Agent Mailbox</a>
${navigation.map(
  (group) =>
    html`<details open><summary>${group.title}</summary><ul>${group.links.map(
      (link) =>
        html`<li><a href="${link.href}">${
          link.method === undefined ? '' : html`<b class="method ${link.method}">${link.method}</b>`
        }${link.text}</a></li>`,
    )}</ul></details>`,
)}
</nav>
<main>${content}</main>
</body>
</html>
`.text;
