/**
 * Words that everybody writes: a passage of nothing else, such as "please let me know if you have any questions", says
 * nothing about where it comes from. The most frequent words of English, German, French and Spanish, and those of polite
 * letters.
 */
import { comparable, hashOf } from './words.ts';

const PLAIN = `
a able about above act add address after again against ago all already also always am an and another answer any anyone
anything are area around as ask asked at attached available away back be because been before being below best better
between both bring business but by call can cannot case change check clear come contact could day days dear detail
details did different do does doing done don down due each early either else email end enough even ever every
everything fact far feel few find first follow following for forward free from full further future general get give
given go going good great had happy hard has have having he hear help her here hesitate hi hello him his hope how
however i if important in include including information inquiry into is issue issues it its just keep kind kindly know
last late later latest least let letter like line little ll long look looking lot made mail make many matter may me mean
meet meeting message might minute moment month months more most much must my name need needed never new next no not
nothing now number of off offer often on once one only open or order other our out over own part past people person
phone place please point possible problem process provide put question questions quick quickly re reach reaching ready
really reason received regarding regards reply request required respond response right s said same say see seems send
sent service set several she short should since sincerely so some someone something soon sorry still such support sure t
take talk team tell than thank thanks that the their them then there these they thing things think this those though
through time times to today together tomorrow too touch try two under understand until up update us use used very via
view want wanted was way we week weeks welcome well went were what when where whether which while who why will wish
with within without work working works would write wrote year years yes yesterday yet you your yours assistance assist
concerns confirm convenience forward appreciate patience delay inconvenience apologies apologize finds feedback
free feel attention earliest additional best warm cheers morning afternoon evening monday tuesday wednesday thursday
friday saturday sunday january february march april june july august september october november december
der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war waren wird werden
wurde wurden hat haben hatte ich du er sie es wir ihr ihnen ihre ihren ihrem ihrer mich mir uns unser unsere sich mit von
vom zu zum zur auf aus bei beim nach vor fur uber unter durch gegen ohne um an am in im ins bis als wie wenn dass da weil
ob so auch nur noch schon sehr mehr viel vielen bitte danke dank gern gerne konnen kann konnte mochte mochten wurde
sollte mussen muss hallo guten tag liebe lieber sehr geehrte geehrter damen herren mit freundlichen grussen gruss beste
anfrage fragen frage nachricht melden freue freuen hilfe helfen zeit heute morgen woche
le la les un une des du de et ou mais ne pas est sont etait ont ai avez nous vous je il elle ils leur votre vos notre nos
mon ma mes pour par avec sans sur dans en au aux ce cette ces qui que quoi dont si plus tres bien merci bonjour
cordialement cordiales salutations veuillez question questions besoin aide message contacter hesitez
el los las una unos y o pero no es son fue han he ha hemos usted ustedes yo tu ella nosotros su sus nuestro mi para por
con sin sobre del al lo este esta estos que quien como si mas muy bien gracias hola saludos cordial atentamente favor
pregunta preguntas ayuda mensaje contacto dude`;

/** As they are compared. */
export const PLAIN_WORDS: readonly string[] = [...new Set(comparable(PLAIN).split(/\s+/).filter(Boolean))];

const HASHES: ReadonlySet<number> = new Set(PLAIN_WORDS.map(hashOf));

/** @param hash of `wordsOf` */
export const isPlainWord = (hash: number): boolean => HASHES.has(hash);
