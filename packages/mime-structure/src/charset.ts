/**
 * Bytes in any charset of mail to text. Never throws: what is unknown is read as it most likely is.
 *
 *     declared      the encodings of WHATWG; UTF-7 (RFC 2152), which old clients still send and no platform decodes any more
 *     undeclared    ISO-2022-JP by its switches, UTF-8, one of the East Asian encodings, or Windows-1252
 *
 * A wrong guess turns a readable name into signs nobody wrote, so a guess needs two reasons: the bytes must be valid
 * throughout, and the characters they give must be those that such texts are mostly made of, side by side. Letters with
 * accents stand alone among others; Cyrillic, read as Chinese, gives rare characters.
 */

type Decoder = InstanceType<typeof TextDecoder>;
const decoders = new Map<string, Decoder | null>();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
const DECODERS_MAX = 100;

function decoderOf(charset: string): Decoder | null {
  const label = charset.trim().toLowerCase();
  let decoder = decoders.get(label);
  if (decoder === undefined) {
    try {
      decoder = new TextDecoder(label);
    } catch {
      decoder = null;
    }
    if (decoders.size < DECODERS_MAX) decoders.set(label, decoder);
  }
  return decoder;
}

/** Switches of ISO-2022-JP to Japanese, which no other text has (RFC 1468). */
const JAPANESE_SWITCHES = ['\x1b$B', '\x1b$@'].map((text) => Buffer.from(text));
const ESCAPE = 0x1b;

/** ISO-2022-JP by its switches, UTF-8 where the bytes are valid UTF-8, else what {@link detectCharset} makes of them. */
export function decodeUndeclared(bytes: Uint8Array): string {
  if (bytes.includes(ESCAPE)) {
    const searched = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (JAPANESE_SWITCHES.some((each) => searched.includes(each))) return decoderOf('iso-2022-jp')?.decode(bytes) ?? '';
  }
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return decoderOf(detectCharset(bytes))?.decode(bytes) ?? '';
  }
}

/** @param charset label as declared; unknown ones, `us-ascii` and none are read as undeclared */
export function decodeCharset(bytes: Uint8Array, charset: string | undefined): string {
  if (charset === undefined || charset === '' || /^(us-)?ascii$/i.test(charset)) return decodeUndeclared(bytes);
  if (/^\s*(?:unicode-1-1-)?utf-7\s*$/i.test(charset)) return decodeUtf7(bytes, decodeUndeclared);
  const decoder = decoderOf(markedCharset(bytes) ?? charset);
  return decoder === null ? decodeUndeclared(bytes) : decoder.decode(bytes);
}

/** A byte order mark goes before any label (Encoding Standard §6, "decode"); `utf-16` without one is little endian. */
function markedCharset(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 'utf-8' : undefined;
}

/** Line breaks of any kind, and the other control characters; NUL is left to {@link storableText}. */
const LINE_BREAKS_AND_CONTROLS = /[\x01-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]+/g;

/**
 * Text that is one line by nature, such as a subject or a name: a sender that writes a line break into it would forge
 * the next line wherever it is shown among others.
 */
export const onOneLine = (text: string): string => text.replace(LINE_BREAKS_AND_CONTROLS, ' ');

/** Text of a header value stored as one character per byte, on one line. */
export const decodeRawHeader = (latin1: string): string =>
  onOneLine(/^[\x00-\x7f]*$/.test(latin1) ? latin1 : decodeUndeclared(Buffer.from(latin1, 'latin1')));

/** Text that PostgreSQL stores in text and jsonb: no NUL, no lone surrogate. */
export const storableText = (text: string): string =>
  (text.includes('\0') ? text.replaceAll('\0', '') : text).toWellFormed();

/** Characters that ordinary texts of East Asia are mostly made of, by the encoding such texts come in unlabelled. */
export const COMMON_CHARACTERS: Readonly<Record<'gbk' | 'big5' | 'shift_jis' | 'euc-kr', string>> = {
  gbk: '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运笔您好请谢码验证通知账户邮箱订单客户服务登录密码注册确认欢迎尊敬李刘陈杨赵黄周吴徐孙胡朱林郭罗梁宋郑谢韩唐冯曹彭曾肖田董潘袁蔡蒋余叶测试主题你们收发送附件中文简体',
  big5: '的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運您請謝碼驗證通知帳戶郵箱訂單客戶服務登入密碼註冊確認歡迎尊敬李劉陳楊趙黃周吳徐孫胡朱林郭羅梁宋鄭韓唐馮曹彭曾蕭田董潘袁蔡蔣余葉測試繁體灣',
  shift_jis:
    '日一国人年大十二本中長出三時行見月分後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨会社員様確認登録番号送信件重要知案内連絡株式知新用者定期込利',
  'euc-kr':
    '이다는의에고가을하지사한로기그나도어들대를리인자아은서스시과일정수해있부제보것전라으주상만여안장국원우성공소면했구신오마조선동비위반게적생회문심화모습니당세주께드려요까없않등합관계학교실무발김박최확번호증메일계약안녕결경현재통내용음입년월',
};

export type DetectedCharset = 'utf-8' | 'windows-1252' | keyof typeof COMMON_CHARACTERS;

/** Bytes looked at. */
export const DETECTION_MAX_BYTES = 4_096;
/** Of the characters beyond ASCII: as many must stand beside another one, and be common ones. */
const ADJACENT_SHARE_MIN = 0.7;
const COMMON_SHARE_MIN = 0.3;
/** Below this many characters chance decides, unless nearly all are common. */
const SHORT_CHARACTERS = 4;
const COMMON_SHARE_MIN_OF_SHORT = 0.6;
const CHARACTERS_MIN = 2;

const candidates = Object.entries(COMMON_CHARACTERS).map(([charset, characters]) => ({
  charset: charset as keyof typeof COMMON_CHARACTERS,
  common: new Set(characters),
  decoder: new TextDecoder(charset, { fatal: true }),
}));

export function detectCharset(bytes: Uint8Array): DetectedCharset {
  // Lists of addresses have thousands of short names: for most of them no decoder has to be tried.
  if (!hasNeighbours(bytes)) return looksLikeUtf8(bytes) ? 'utf-8' : 'windows-1252';
  if (looksLikeUtf8(bytes)) return 'utf-8';
  const looked = bytes.subarray(0, DETECTION_MAX_BYTES);
  let best: DetectedCharset = 'windows-1252';
  let bestShare = 0;
  for (const { charset, common, decoder } of candidates) {
    const text = decodeWhole(decoder, looked) ?? decodeWhole(decoder, looked.subarray(0, -1));
    if (text === undefined) continue;
    const share = commonShare(text, common, charset === 'shift_jis');
    if (share > bestShare) [best, bestShare] = [charset, share];
  }
  return best;
}

/** Whether bytes above 127 stand side by side, or with one byte between, as in every text of East Asia. */
function hasNeighbours(bytes: Uint8Array): boolean {
  for (let at = 0; at + 1 < bytes.length; at++)
    if ((bytes[at] ?? 0) > 0x7f && ((bytes[at + 1] ?? 0) > 0x7f || (bytes[at + 2] ?? 0) > 0x7f)) return true;
  return false;
}

function decodeWhole(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** 0: it is no such text. */
function commonShare(text: string, common: ReadonlySet<string>, japanese: boolean): number {
  let beyond = 0;
  let adjacent = 0;
  let known = 0;
  let kana = 0;
  let before = false;
  for (const character of text) {
    const isBeyond = character > '\u007f';
    if (isBeyond) {
      beyond++;
      if (before) adjacent++;
      // Half-width kana are single bytes, which any text of Latin letters would give.
      const isKana = character >= '\u3041' && character <= '\u30fe';
      if (isKana) kana++;
      if ((japanese && isKana) || common.has(character) || (character >= '\u3000' && character <= '\u3011')) known++;
    }
    before = isBeyond;
  }
  // Each run of neighbours has one that stands beside none before it.
  const neighbours = adjacent / Math.max(1, beyond - 1);
  if (beyond < CHARACTERS_MIN || neighbours < ADJACENT_SHARE_MIN) return 0;
  if (japanese && kana === 0) return 0;
  const share = known / beyond;
  return share >= (beyond < SHORT_CHARACTERS ? COMMON_SHARE_MIN_OF_SHORT : COMMON_SHARE_MIN) ? share : 0;
}

/**
 * Valid UTF-8, or UTF-8 in which at most as many bytes are wrong as there are characters of several bytes: a name that
 * was cut within a character stays a name.
 */
function looksLikeUtf8(bytes: Uint8Array): boolean {
  let whole = 0;
  let wrong = 0;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) {
      at++;
      continue;
    }
    const following =
      byte >= 0xc2 && byte <= 0xdf ? 1 : byte >= 0xe0 && byte <= 0xef ? 2 : byte >= 0xf0 && byte <= 0xf4 ? 3 : 0;
    let have = 0;
    while (have < following && at + 1 + have < bytes.length && ((bytes[at + 1 + have] ?? 0) & 0xc0) === 0x80) have++;
    const atEnd = at + 1 + have >= bytes.length;
    if (following > 0 && have === following) whole++;
    else if (!(following > 0 && atEnd)) wrong += 1 + have;
    at += 1 + have;
  }
  return wrong === 0 ? whole > 0 : whole > 1 && wrong <= whole;
}

/** `+` begins UTF-16 in base64, `-` or any other character ends it; `+-` is a plus sign. */
const RUN = /\+([A-Za-z0-9+/]*)-?/g;

/**
 * Damaged runs give U+FFFD; a plus sign that begins none stays.
 *
 * @param decodeDirect reads what stands outside the runs: ASCII, and in damaged text other bytes
 */
export function decodeUtf7(bytes: Uint8Array, decodeDirect: (bytes: Uint8Array) => string): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  let out = '';
  let at = 0;
  for (const { index, 0: all, 1: encoded = '' } of text.matchAll(RUN)) {
    out += decodeDirect(bytes.subarray(at, index));
    out += encoded === '' ? '+' : runText(encoded);
    at = index + all.length;
  }
  return out + decodeDirect(bytes.subarray(at));
}

function runText(encoded: string): string {
  const units = Buffer.from(encoded, 'base64');
  let text = '';
  for (let i = 0; i + 1 < units.length; i += 2) text += String.fromCharCode(units.readUInt16BE(i));
  return text === '' ? '\ufffd' : text.toWellFormed();
}
