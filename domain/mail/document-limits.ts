/** Text of attached documents: pages of an answer, and what reading one may cost. */
const MIB_BYTES = 1024 * 1024;

/** Characters (UTF-16 code units) of one page: default and maximum. */
export const DOCUMENT_PAGE_DEFAULT_CHARACTERS = 20_000;
export const DOCUMENT_PAGE_MAX_CHARACTERS = 100_000;
/** Text behind this is not read. */
export const DOCUMENT_TEXT_MAX_CHARACTERS = 5_000_000;

/** Processor time of one document, and wall time from the request to its answer, the wait for a thread included. */
export const DOCUMENT_MAX_CPU_MS = 5_000;
export const DOCUMENT_MAX_WALL_MS = 9_000;
/** Memory of the thread: JavaScript objects, and buffers outside of them. */
export const DOCUMENT_MAX_HEAP_MIB = 256;
export const DOCUMENT_MAX_BUFFER_BYTES = 256 * MIB_BYTES;
/** Threads that read documents at once, and documents that wait for one. */
export const DOCUMENT_THREADS_MAX = 2;
export const DOCUMENTS_WAITING_MAX = 20;

/** Office documents: files in the archive, bytes of those that are read, characters of shared texts, sheets, slides. */
export const ARCHIVE_ENTRIES_MAX = 20_000;
export const ARCHIVE_READ_MAX_BYTES = 128 * MIB_BYTES;
export const SHARED_TEXT_MAX_CHARACTERS = 20_000_000;
export const SHEETS_MAX = 1_000;
export const SLIDES_MAX = 2_000;
/** Elements of XML that are open at once. */
export const XML_DEPTH_MAX = 500;
export const PDF_PAGES_MAX = 5_000;
