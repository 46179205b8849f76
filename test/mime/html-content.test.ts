import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HTML_LINKS_MAX, HTML_MAX_CHARACTERS } from '#domain/mail/mail-limits.ts';
import { htmlContent } from '#mime/html-content.ts';

const reads = (html: string, expected: string) => assert.equal(htmlContent(html).text, expected);

describe('text of HTML', () => {
  it('keeps the cells of a row apart, and rows on lines of their own', () => {
    reads(
      '<table><thead><tr><th>Total<th>Code</thead><tr><td>5</td><td>1234</td></tr><tr><td>6<td>5678</table>',
      'Total\tCode\n5\t1234\n6\t5678',
    );
    reads('<td>Code</td>\n  <td>553123</td><td>2026</td>', 'Code\t553123\t2026');
    reads('<table><tr><td><p>Your code</p></td><td><div>12</div></td></tr></table>', 'Your code\n\n12');
  });
  it('puts terms, buttons, options and list items on lines of their own', () => {
    reads('<dl><dt>Code<dd>1234<dt>Year<dd>2026</dl>', 'Code\n1234\nYear\n2026');
    reads('<button>Pay</button><button>Cancel</button>', 'Pay\nCancel');
    reads('<select><option>One<option>Two</option></select>three', 'One\nTwo\nthree');
    reads('<ul><li>a<li>b</ul><ol start=3><li>c</li><li>d</ol>', '* a\n* b\n\n3. c\n4. d');
  });
  it('keeps the case of headings', () => reads('<h1>Code aBc12x</h1><h2>next</h2>text', 'Code aBc12x\n\nnext\n\ntext'));
  it('breaks lines at blocks, paragraphs and br as a browser does', () => {
    reads('a<br>b<br><br>c<div>d</div><div><br></div><div>e</div>f', 'a\nb\n\nc\nd\n\ne\nf');
    reads('<p>one</p><p>two<p>three', 'one\n\ntwo\n\nthree');
    reads('a<span style="display:block">123456</span>b', 'a\n123456\nb');
    reads('<span>12</span><b>34</b> <i>56</i>', '1234 56');
  });
  it('keeps the lines of preformatted text', () => {
    reads('<pre>a  b\n\n  c</pre>d', 'a  b\n\n  c\n\nd');
    reads('<div style="white-space: pre-wrap">one\ntwo</div>', 'one\ntwo');
    reads('one\ntwo', 'one two');
  });
  it('marks quotes, so that the new part of a reply can be recognized', () =>
    reads('yes<blockquote>was it?<blockquote>older</blockquote></blockquote>', 'yes\n\n> was it?\n>\n> > older'));
  it('leaves out what no reader sees', () => {
    reads('<title>t</title><style>s</style><script>s</script><template>t</template><!-- c --><p>seen', 'seen');
    reads('<div style="display:none">a<div>b</div></div>c', 'c');
    reads('<div hidden>a</div><span style="visibility: hidden">b</span><i style="opacity:0">c</i>d', 'd');
    reads('<div style="max-height:0;overflow:hidden">preheader</div>d', 'd');
    reads('<div style="font-size:0;line-height:0">pre<b style="font-size:14px">seen</b></div>', 'seen');
    reads('<p style="display:none!important;display:block">a</p>b', 'b');
    reads('<p style="display:none">a<p>b', 'b');
    reads('&nbsp;&zwnj;&nbsp;&zwnj;&#847;&shy;<p>b', 'b');
  });
  it('keeps what only looks hidden', () => {
    reads('<td style="font-size:0"><p class="big">seen</p></td>', 'seen');
    reads('<td style="height:0">seen</td>', 'seen');
    reads('<span style="display:none"></span>seen', 'seen');
    reads('<![if !mso]>seen<![endif]><![CDATA[x>also', 'seenalso');
  });
  it('decodes entities, and keeps joiners between letters', () => {
    reads('a&amp;b &lt;c&gt; &#8364;5 &unknown; &eacute', 'a&b <c> €5 &unknown; é');
    reads('می‌خواهم', 'می‌خواهم');
  });
  it('reads damaged documents to their end', () => {
    reads('<p>a</div></b>b</td>c', 'abc');
    reads('a < b <', 'a < b <');
    reads('<b>a<i>b</b>c', 'abc');
    reads('', '');
  });
  it('shows the address of a link once', () => {
    reads('<a href="https://a.example/x">Confirm</a> now', 'Confirm [https://a.example/x] now');
    reads('<a href="https://a.example/">a.example</a> <a href="mailto:b@c.d">b@c.d</a>', 'a.example b@c.d');
    reads('<a href="#top">up</a> <a href="javascript:x()">run</a>', 'up run');
  });
});

describe('links of HTML', () => {
  it('come with their words and the text beside them, without the addresses of others', () => {
    const { links } = htmlContent(
      '<p>If <a href="https://a.example/1">this</a> was you,<a href=" https://a.example/2?a&amp;b "><img alt="Confirm  it"> now</a> or not.',
    );
    assert.deepEqual(links, [
      { href: 'https://a.example/1', text: 'this', before: 'If', after: ' was you, Confirm it now or not.' },
      { href: 'https://a.example/2?a&b', text: 'Confirm it now', before: 'If this was you,', after: ' or not.' },
    ]);
  });
  it('are those a reader sees', () => {
    const { links } = htmlContent(
      '<div style="display:none"><a href="https://h.example">h</a></div><map><area href="https://m.example" alt="Map"></map><a name=x>no</a><a href="https://s.example">s',
    );
    assert.deepEqual(
      links.map(({ href, text }) => [href, text]),
      [
        ['https://m.example', 'Map'],
        ['https://s.example', 's'],
      ],
    );
  });
  it('end where the next begins, or their cell ends', () => {
    const { links } = htmlContent(
      '<td><a href="https://1.example">one<td><a href="https://2.example">two<a href="https://3.example">three',
    );
    assert.deepEqual(
      links.map(({ text }) => text),
      ['one', 'two', 'three'],
    );
  });
});

describe('a document beyond the limits', () => {
  it('is cut, and says so', () => {
    assert.equal(htmlContent('a'.repeat(HTML_MAX_CHARACTERS)).cut, false);
    assert.equal(htmlContent('a'.repeat(HTML_MAX_CHARACTERS + 1)).cut, true);
    const many = htmlContent('<a href=http://x>y</a>'.repeat(HTML_LINKS_MAX + 1));
    assert.equal(many.links.length, HTML_LINKS_MAX);
    assert.equal(many.cut, true);
    const grown = htmlContent(`${'<blockquote>'.repeat(8)}${'a<br>'.repeat(100_000)}`);
    assert.equal(grown.cut, true);
    assert.ok(grown.text.length <= HTML_MAX_CHARACTERS);
  });
  it('keeps its text however deep it is', () => {
    const { text, cut } = htmlContent(`${'<div>'.repeat(10_000)}code 1234${'</div>'.repeat(10_000)}<p>end`);
    assert.deepEqual([text, cut], ['code 1234\n\nend', false]);
  });
});
