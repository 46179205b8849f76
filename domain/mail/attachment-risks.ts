/** What about an attachment may harm its reader: by its name, its declared type and the form of its content. */

export const ATTACHMENT_RISKS = [
  'program',
  'macros',
  'archive',
  'html',
  'svg',
  'type_mismatch',
  'double_extension',
  'text_direction',
] as const;

/**
 * `program`: runs when it is opened. `macros`: a document with a program in it. `archive`: its content is not seen from
 * outside. `html`, `svg`: opened in a browser it runs scripts, or imitates a sign-in. `type_mismatch`: the content is not
 * what the type or the name says. `double_extension`: `invoice.pdf.exe`. `text_direction`: the name has characters that
 * show its parts in another order.
 */
export type AttachmentRisk = (typeof ATTACHMENT_RISKS)[number];

/** What the bytes of a file are, as far as its first ones tell. `empty`: there are none, which contradicts no name. */
export type ContentForm =
  | 'empty'
  | 'program'
  | 'pdf'
  | 'png'
  | 'jpeg'
  | 'gif'
  | 'webp'
  | 'zip'
  | 'ole'
  | 'archive'
  | 'html'
  | 'svg'
  | 'rtf';

export interface AttachmentFacts {
  readonly filename: string | null;
  /** As the message declares it, such as `application/pdf`. */
  readonly contentType: string;
  /** Undefined: the content is not known. Null: it is known and has none of the forms. */
  readonly form?: ContentForm | null | undefined;
  /** The content is a document with macros. */
  readonly hasMacros?: boolean;
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

const PROGRAMS = words(
  `apk app appimage application appref-ms bash bat chm cmd com command cpl csh deb desktop dll drv elf exe gadget hta
   inf ins iqy isp jar jnlp js jse ksh lib lnk mjs msc msh msi msp mst pif pkg pl ps1 ps1xml ps2 psc1 psd1 psm1 py pyc pyw
   pyz rb reg rpm run scf scr sct settingcontent-ms sh shb shs so sys url vb vbe vbs vbscript ws wsc wsf wsh xbap xll zsh`,
);
const MACROS = words('docm dotm xlsm xltm xlam xlsb pptm potm ppam ppsm sldm');
const ARCHIVES = words(
  '7z ace arj bz2 cab dmg gz img iso lha lz lzh lzma rar tar tbz tbz2 tgz txz vhd vhdx wim xz z zip zipx zst',
);
const PAGES = words('hta htm html mht mhtml shtm shtml xht xhtml');
const PICTURES_WITH_SCRIPTS = words('svg svgz');
/** Endings that people open without a thought. */
const HARMLESS = words(
  'avi bmp csv doc docx eml gif ics jpeg jpg mov mp3 mp4 odp ods odt pdf png ppt pptx rtf tif tiff txt wav webp xls xlsx',
);
/** Documents that are ZIP archives by their format. */
const ZIPPED = words('docx dotx docm dotm epub odg odp ods odt potx ppsx pptm pptx xlsb xlsm xlsx xltx vsdx');

const PROGRAM_TYPE =
  /^(?:application\/(?:hta|java-archive|javascript|ecmascript|x-(?:dosexec|elf|executable|java-applet|javascript|mach-binary|ms-shortcut|msdos-program|msdownload|msi|perl|python|sh|shellscript|csh|bat|powershell|ruby)|vnd\.(?:android\.package-archive|debian\.binary-package|microsoft\.portable-executable))|text\/(?:javascript|ecmascript|vbscript|x-(?:sh|shellscript|python|perl|ruby|powershell|msdos-batch)))$/;
const MACRO_TYPE = /\.macroenabled(?:\.12)?$/;
const ARCHIVE_TYPE =
  /^application\/(?:gzip|zip|zstd|vnd\.(?:rar|ms-cab-compressed)|x-(?:7z-compressed|ace-compressed|apple-diskimage|bzip2?|cab|gtar|gzip|iso9660-image|lzh|lzip|lzma|rar(?:-compressed)?|tar|xz|zip-compressed|zip))$/;
const PAGE_TYPE = /^(?:text\/html|application\/xhtml\+xml|multipart\/related|message\/rfc2557)$/;

/** The form that a type or an ending promises. */
const PROMISED: readonly (readonly [form: ContentForm, type: RegExp, endings: ReadonlySet<string>])[] = [
  ['pdf', /^application\/(?:x-)?pdf$/, words('pdf')],
  ['png', /^image\/(?:x-)?png$/, words('png')],
  ['jpeg', /^image\/p?jpe?g$/, words('jpg jpeg jpe')],
  ['gif', /^image\/gif$/, words('gif')],
  ['webp', /^image\/webp$/, words('webp')],
  [
    'zip',
    /^application\/(?:zip|x-zip-compressed|vnd\.openxmlformats-officedocument\..+|vnd\.oasis\.opendocument\..+|epub\+zip)$/,
    words([...ZIPPED, 'zip'].join(' ')),
  ],
];
/** Content of these is text: none of the binary forms. */
const TEXT_TYPE = /^(?:text\/(?!html|rtf|richtext)[\w.+-]+|application\/json)$/;
const TEXT_ENDINGS = words('csv ics json log md txt');

/** In a fixed order, each once. */
export function attachmentRisks(facts: AttachmentFacts): AttachmentRisk[] {
  const type = facts.contentType.toLowerCase();
  const { form } = facts;
  const endings = endingsOf(facts.filename ?? '');
  const last = endings.at(-1) ?? '';
  const isProgram = PROGRAMS.has(last) || PROGRAM_TYPE.test(type) || form === 'program';
  const hasMacros = MACROS.has(last) || MACRO_TYPE.test(type) || facts.hasMacros === true;
  const isPage = PAGES.has(last) || PAGE_TYPE.test(type) || form === 'html';
  const isSvg = PICTURES_WITH_SCRIPTS.has(last) || type === 'image/svg+xml' || form === 'svg';
  const isArchive =
    ARCHIVES.has(last) ||
    ARCHIVE_TYPE.test(type) ||
    form === 'archive' ||
    (form === 'zip' && !ZIPPED.has(last) && !promises('zip', type, last));
  const hides = isProgram || PAGES.has(last) || PICTURES_WITH_SCRIPTS.has(last) || MACROS.has(last);
  const found: Readonly<Record<AttachmentRisk, boolean>> = {
    program: isProgram,
    macros: hasMacros,
    archive: isArchive,
    html: isPage,
    svg: isSvg,
    type_mismatch: form !== undefined && form !== 'empty' && isOther(form, type, last),
    double_extension: hides && endings.slice(0, -1).some((each) => HARMLESS.has(each)),
    text_direction: DIRECTION.test(facts.filename ?? ''),
  };
  return ATTACHMENT_RISKS.filter((risk) => found[risk]);
}

/** Embeddings, overrides and isolates (UAX #9 §2). */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/;

/** Endings of a name in lower case, the first part left out; Windows ignores dots and spaces at the end. */
function endingsOf(filename: string): string[] {
  const name = filename.replace(/[\p{Cc}\p{Cf}]/gu, '').replace(/[.\s]+$/, '');
  return name
    .slice(name.search(/[^.\s]/))
    .split('.')
    .slice(1)
    .map((each) => each.trim().toLowerCase());
}

const promises = (form: ContentForm, type: string, ending: string): boolean =>
  PROMISED.some(([each, types, endings]) => each === form && (types.test(type) || endings.has(ending)));

function isOther(form: ContentForm | null, type: string, ending: string): boolean {
  // With a password, an Office document is in a container of the older format.
  for (const [promised, types, endings] of PROMISED)
    if (promised !== form && !(promised === 'zip' && form === 'ole') && (types.test(type) || endings.has(ending)))
      return true;
  return form !== null && (TEXT_TYPE.test(type) || TEXT_ENDINGS.has(ending)) && form !== 'svg' && form !== 'rtf';
}
