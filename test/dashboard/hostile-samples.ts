/** HTML that strangers send to run a script, to call home, to mislead, or to break the page around it. */

export interface HostileSample {
  readonly name: string;
  readonly html: string;
  /** Too much for a browser: the text is shown instead. */
  readonly refused?: true;
  /** Renders without protection in a way that the canary notices: shows that the test can fail. */
  readonly control?: true;
}

/**
 * @param url address of the canary; a request to it is a leak. Scripts call `hacked`, which the test looks for, and
 *   request the canary.
 */
export function hostileSamples(url: string): readonly HostileSample[] {
  const hit = (name: string) => `${url}/hit?${name.replaceAll(/[^a-z0-9]+/gi, '-')}`;
  const js = (name: string) => `window.hacked=1;new Image().src='${hit(name)}'`;
  const sample = (name: string, make: (leak: string, script: string) => string, more: Partial<HostileSample> = {}) => ({
    name,
    html: make(hit(name), js(name)),
    ...more,
  });
  const control = { control: true } as const;
  const refused = { refused: true } as const;
  const encoded = (text: string) =>
    [...text].map((character) => `&#x${character.charCodeAt(0).toString(16)};`).join('');
  return [
    // Scripts
    sample('script element', (_, script) => `<script>${script}</script>`, control),
    sample('script from elsewhere', (leak) => `<script src="${leak}"></script>`, control),
    sample('script in capitals', (_, script) => `<SCRIPT>${script}</SCRIPT >`),
    sample('script in pieces', (_, script) => `<scr<script>ipt>${script}</scr</script>ipt>`),
    sample('module script', (leak) => `<script type="module">import '${leak}'</script>`),
    sample('image error handler', (_, script) => `<img src="x:" onerror="${script}">`, control),
    sample('image error handler without quotes', (leak) => `<img src=x onerror=fetch("${leak}",{mode:"no-cors"})>`),
    sample('handler behind a slash', (_, script) => `<img/src="x:"/onerror="${script}">`),
    sample('handler behind a line break', (_, script) => `<img src="x:"\n\nonerror\n=\n"${script}">`),
    sample('svg load handler', (_, script) => `<svg onload="${script}"></svg>`, control),
    sample('svg script', (_, script) => `<svg><script>${script}</script></svg>`),
    sample('svg animate', (_, script) => `<svg><animate onbegin="${script}" attributeName=x dur=1s></svg>`),
    sample(
      'svg use of data',
      (leak) =>
        `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><image href='${leak}'/></svg>#x"/></svg>`,
    ),
    sample('svg image', (leak) => `<svg><image href="${leak}" width=9 height=9 /></svg>`),
    sample(
      'svg foreign object',
      (_, script) => `<svg><foreignObject><img src="x:" onerror="${script}"></foreignObject></svg>`,
    ),
    sample(
      'details toggle handler',
      (_, script) => `<details open ontoggle="${script}"><summary>x</summary></details>`,
    ),
    sample(
      'autofocus handler',
      (_, script) => `<input autofocus onfocus="${script}"><div tabindex=0 autofocus onfocus="${script}">x</div>`,
    ),
    sample(
      'body handlers',
      (_, script) => `<body onload="${script}" onpageshow="${script}" onfocus="${script}">x</body>`,
    ),
    sample(
      'animation handler',
      (_, script) =>
        `<style>@keyframes k{from{left:0}}</style><div style="animation:k 1s" onanimationstart="${script}">x</div>`,
    ),
    sample('marquee handler', (_, script) => `<marquee onstart="${script}" behavior=alternate>x</marquee>`),
    // Addresses that run
    sample('javascript link', (_, script) => `<a href="javascript:${script}">Confirm</a>`),
    sample(
      'javascript link with white space',
      (_, script) => `<a href=" &#9;java\nscript&colon;${script}">Confirm</a>`,
    ),
    sample('javascript link, encoded', (_, script) => `<a href="${encoded(`javascript:${script}`)}">Confirm</a>`),
    sample(
      'javascript link behind control characters',
      (_, script) => `<a href="&#1;&#x1f;javascript:${script}">Confirm</a>`,
    ),
    sample('vbscript link', () => `<a href="vbscript:MsgBox(1)">Confirm</a>`),
    sample('data link', (_, script) => `<a href="data:text/html,<script>${script}</script>">Confirm</a>`),
    sample(
      'data link in base64',
      (_, script) =>
        `<a href="data:text/html;base64,${Buffer.from(`<script>${script}</script>`).toString('base64')}">Confirm</a>`,
    ),
    sample(
      'blob, file and view-source links',
      () =>
        `<a href="blob:null/1">1</a><a href="file:///etc/passwd">2</a><a href="view-source:http://x/">3</a><a href="filesystem:http://x/">4</a>`,
    ),
    sample(
      'link to the service itself',
      () => `<a href="/api/sessions/current">1</a><a href="//127.0.0.1/x">2</a><a href="?open=1">3</a>`,
    ),
    sample(
      'svg link',
      (_, script) =>
        `<svg><a xlink:href="javascript:${script}" href="javascript:${script}"><text y=20>Confirm</text></a></svg>`,
    ),
    sample(
      'image map',
      (_, script) =>
        `<img usemap="#m" src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><map name="m"><area shape="default" href="javascript:${script}"></map>`,
    ),
    sample(
      'link that names its target',
      (leak) =>
        `<a target="_top" rel="opener" href="${leak}" ping="${leak}">x</a><a target="_self" download href="${leak}">y</a>`,
    ),
    sample('link whose words name another host', (leak) => `<a href="${leak}">https://www.bank.example/login</a>`),
    // What calls home
    sample('tracking pixel', (leak) => `<img src="${leak}" width="1" height="1">`, control),
    sample(
      'tracking pixel by srcset',
      (leak) =>
        `<img srcset="${leak} 1x, ${leak}2 2x"><picture><source srcset="${leak}3"><img src="${leak}4"></picture>`,
      control,
    ),
    sample(
      'background attributes',
      (leak) =>
        `<table background="${leak}"><tr background="${leak}"><td background="${leak}">x</td></tr></table><body background="${leak}">`,
      control,
    ),
    sample(
      'inline style address',
      (leak) =>
        `<div style="background-image:url('${leak}');list-style-image:url(${leak});border-image:url(${leak}) 1">x</div>`,
      control,
    ),
    sample('inline style address, escaped', (leak) => `<div style="background:u\\72l(${leak})">x</div>`),
    sample(
      'style sheet address',
      (leak) =>
        `<style>body{background:url(${leak})} p::after{content:url(${leak})} td{cursor:url(${leak}),auto}</style><p>x</p>`,
      control,
    ),
    sample(
      'style sheet import',
      (leak) => `<style>@import url("${leak}"); @import '${leak}';\n@\\69mport "${leak}";</style><p>x</p>`,
      control,
    ),
    sample(
      'style sheet font',
      (leak) => `<style>@font-face{font-family:f;src:url(${leak})} p{font-family:f}</style><p>text in it</p>`,
    ),
    sample(
      'style sheet variables',
      (leak) =>
        `<style>:root{--u:url(${leak})} p{background:var(--u)}</style><p style="--v:url(${leak});background:var(--v)">x</p>`,
    ),
    sample(
      'image set and cross fade',
      (leak) =>
        `<p style="background:image-set('${leak}' 1x);background:-webkit-cross-fade(url(${leak}),url(${leak}),50%)">x</p>`,
    ),
    sample(
      'link elements',
      (leak) =>
        `<link rel="stylesheet" href="${leak}"><link rel="prefetch" href="${leak}"><link rel="preload" as="image" href="${leak}"><link rel="dns-prefetch" href="//leak.example"><link rel="icon" href="${leak}">`,
      control,
    ),
    sample(
      'media elements',
      (leak) =>
        `<video autoplay src="${leak}" poster="${leak}"></video><audio autoplay src="${leak}"></audio><video><source src="${leak}"><track default src="${leak}"></video>`,
      control,
    ),
    sample('bgsound and input image', (leak) => `<bgsound src="${leak}"><input type="image" src="${leak}">`),
    sample('meta refresh', (leak) => `<meta http-equiv="refresh" content="0;url=${leak}">`, control),
    sample(
      'meta of other kinds',
      (leak) =>
        `<meta http-equiv="set-cookie" content="a=b"><meta http-equiv="Content-Security-Policy" content="report-uri ${leak}"><meta name="referrer" content="unsafe-url"><meta http-equiv="x-dns-prefetch-control" content="on">`,
    ),
    sample(
      'base address',
      (leak) => `<base href="${leak}/" target="_top"><img src="pixel.png"><a href="page">x</a>`,
      control,
    ),
    sample(
      'speculation rules',
      (leak) => `<script type="speculationrules">{"prefetch":[{"urls":["${leak}"]}]}</script>`,
    ),
    // Documents in the document
    sample(
      'nested frame',
      (leak) => `<iframe src="${leak}"></iframe><frameset><frame src="${leak}"></frameset>`,
      control,
    ),
    sample(
      'frame with its own document',
      (_, script) => `<iframe srcdoc="<script>parent.hacked=1;${script}</script>"></iframe>`,
      control,
    ),
    sample(
      'frame with a script address',
      (_, script) =>
        `<iframe src="javascript:parent.hacked=1"></iframe><iframe src="data:text/html,<script>${script}</script>"></iframe>`,
    ),
    sample(
      'object, embed, applet',
      (leak) =>
        `<object data="${leak}"><embed src="${leak}"></object><embed src="${leak}"><applet code="${leak}"></applet><object data="data:text/html,x"></object>`,
      control,
    ),
    sample(
      'portal and fenced frame',
      (leak) => `<portal src="${leak}"></portal><fencedframe src="${leak}"></fencedframe>`,
    ),
    // Forms
    sample(
      'form',
      (leak) =>
        `<form action="${leak}" method="post"><input name="password" type="password" autofocus><button>Sign in</button></form>`,
    ),
    sample(
      'form that sends itself',
      (leak) =>
        `<form id="f" action="${leak}"><input type="submit" id="s" formaction="${leak}"></form><button form="f" formaction="javascript:alert(1)">x</button>`,
    ),
    // Names that hide what the page needs
    sample(
      'names of the document',
      () =>
        `<img name="body"><form name="querySelectorAll"><input name="attributes"><input name="nodeName"><input name="parentNode"></form><img name="createTreeWalker"><form id="head"></form><a id="adoptNode"></a>`,
    ),
    sample(
      'names of the sanitiser',
      () =>
        `<form><input name="attributes"><input name="removeChild"><input name="childNodes"><input name="hasChildNodes"><input name="textContent"><math><mi></mi></math></form>`,
    ),
    // Markup that is read differently a second time
    sample(
      'mathml and style',
      (_, script) =>
        `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${script}&gt;">`,
    ),
    sample(
      'noscript',
      (_, script) => `<noscript><p title="</noscript><img src=x: onerror=&quot;${script}&quot;>"></noscript>`,
    ),
    sample(
      'template',
      (_, script) =>
        `<template><img src="x:" onerror="${script}"><script>${script}</script></template><template shadowrootmode="open"><img src="x:" onerror="${script}"></template>`,
    ),
    sample(
      'svg title and style',
      (_, script) => `<svg></p><style><a id="</style><img src=x: onerror='${script}'>"></style></svg>`,
    ),
    sample(
      'form in a table',
      (_, script) => `<form><math><mtext></form><form><mglyph><style></math><img src=x: onerror="${script}">`,
    ),
    sample(
      'select and xmp',
      (_, script) =>
        `<select><xmp><script>${script}</script></xmp></select><xmp><img src="x:" onerror="${script}"></xmp><noembed><img src="x:" onerror="${script}"></noembed>`,
    ),
    sample(
      'cdata and processing instruction',
      (_, script) =>
        `<![CDATA[<img src="x:" onerror="${script}">]]><?xml-stylesheet href="javascript:${script}"?><!ENTITY x "y">`,
    ),
    sample('open comment', (_, script) => `<p>before</p><!-- <img src="x:" onerror="${script}">`),
    sample('open attribute', (leak) => `<p>before</p><img alt='<img src="${leak}"`),
    sample('open elements', () => `<table><td><b><i><a href="https://example.com"><div><p><ul><li><table><tr>`),
    sample(
      'ends of what was never opened',
      () => `</div></body></html></iframe></template></svg></math></table></main>`,
    ),
    sample(
      'null characters',
      (_, script) => `<scr\u0000ipt>${script}</scr\u0000ipt><img src="x:" on\u0000error="${script}">`,
    ),
    sample(
      'conditional comments',
      (leak) => `<!--[if mso]><img src="${leak}"><![endif]--><!--[if !mso]><!--><p>x</p><!--<![endif]-->`,
    ),
    // Looks that break out or mislead
    sample(
      'fixed and absolute position',
      (leak) =>
        `<style>a{position:fixed!important;inset:0;z-index:2147483647}</style><a href="${leak}" style="position:fixed;top:0;left:0;width:100vw;height:100vh;z-index:99999">Sign in again</a>`,
    ),
    sample(
      'huge sizes',
      () =>
        `<div style="width:999999999px;height:999999999px">x</div><img width="9999999" height="9999999"><table width="9999999"><tr><td colspan="1000" rowspan="65534" style="padding:99999px">x</td></tr></table><font size="99999">x</font>`,
    ),
    sample(
      'sizes that follow the frame',
      () =>
        `<div style="height:200vh;min-height:300dvh;width:500vw">x</div><style>p{height:calc(100vh + 10px)}</style><p>y</p>`,
    ),
    sample(
      'negative margins and transforms',
      () =>
        `<div style="margin:-99999px;transform:scale(1000);zoom:99;filter:blur(99px);mix-blend-mode:difference">x</div>`,
    ),
    sample(
      'old expressions and behaviours',
      (leak) => `<div style="width:expression(alert(1));behavior:url(${leak});-moz-binding:url(${leak})">x</div>`,
    ),
    sample(
      'visited links',
      (leak) =>
        `<style>a:visited{background:url(${leak})} a:has(b){background:url(${leak})} [href^="h"]{background:url(${leak})}</style><a href="https://example.com/">x</a>`,
    ),
    sample('many columns', () => `<table>${'<tr>'.repeat(50)}${'<td colspan=1000>x</td>'.repeat(2_000)}</table>`),
    sample(
      'text that turns around',
      () =>
        `<p>Send to \u202egro.live@knab\u202c and \u2066\u202eannexe\u2069</p><bdo dir="rtl">tpircsavaj</bdo><p dir="rtl">x</p>`,
    ),
    sample('nested tables', () => `${'<table><tr><td>'.repeat(40)}deep${'</td></tr></table>'.repeat(40)}`),
    sample(
      'many rules',
      () =>
        `<style>${Array.from({ length: 5_000 }, (_, n) => `.c${n} > * + * ~ * :not(.d) { color: red }`).join('')}</style><p class="c1">x</p>`,
    ),
    // What would keep a browser busy
    sample('five megabytes of nesting', () => '<div>'.repeat(1_048_576), refused),
    sample('nesting within the length', () => '<b><i>'.repeat(14_000), refused),
    sample('depth within the number', () => `${'<div>'.repeat(400)}deep`, refused),
    sample(
      'thousands of attributes',
      () => `<p ${Array.from({ length: 20_000 }, (_, n) => `a${n}`).join(' ')}>x</p>`,
      refused,
    ),
    sample('quotes that never end', () => `<p title="${'a '.repeat(200_000)}`),
  ];
}
