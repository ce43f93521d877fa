/**
 * The usual characters of a charset. `least` is the minimum share of them among the non-ASCII characters of a text; of several
 * charsets, the one with the highest ratio of share to minimum wins.
 */
type Charset = { readonly label: string; readonly usual: RegExp; readonly least: number; readonly words?: true }

const han =
  /[的一是不了在人有我他这這个個们們中来來上大为為和国國地到以说說时時要就出会會可也你对對生能而子那得于於着著下自之年过過发發后後作里用道行所然家种種事成方多经經么麼去法学學如都同现現当當没沒动動面起看定天分还還进進好小部其些主样樣理心本前开開但因只从從想实實日者意无無力它与與长長把机機十民第公此已工使情明性知全三又关關点點正业業外将將两兩高间間由问問很最重并並物手应應向头頭文体體相见見被利什二等产產或新己制身果加月话話合回特代内內信表化给給世位次度门門任常先通原提立及比员員解水名真论論处處走各入几幾口认認条條平系气氣题題活更别別打变變四总總何电電数數安少报報才结結反受目太量再建务務做接必场場件计計管期直资資命指许許统統区區保至形便空决決展科五基书書非则則界达達放即且权權完设設式色路记記品类類求据據程北边邊该該交规規取格觉覺领領共确確传傳清今切识識带帶导導运運测測试試编編码碼字符档檔案检檢功添修改删刪除增错錯误誤注註释釋版支持默预預配置初始请請输輸入返参參调調显顯示用户戶]/u
const japanese =
  /[\u3041-\u30fe日本語大人中一年出国会事者時生上下行分後前文字書使用設定処理追加削除修正変更名不可対応確認表示初期化完了終始開入力結果値数型関例実計算有無新旧高低]/u
const hangul =
  /[이다의는에가을를은하고로지도기사인서한자대리시아정어나수일해스그부보전과만라게있주장것제으여조원들았었습니까요면안상성오공국구세신경우미동모내연무용적중방물생년위간발회문명행합됩함됨음입력출]/u
const cyrillic = /[оеаинтсрвлкмдпу]/u

const charsets: readonly Charset[] = [
  { label: 'shift_jis', usual: japanese, least: 0.4 },
  { label: 'euc-jp', usual: japanese, least: 0.4 },
  { label: 'gb18030', usual: han, least: 0.3 },
  { label: 'big5', usual: han, least: 0.3 },
  { label: 'euc-kr', usual: hangul, least: 0.3 },
  { label: 'windows-1251', usual: cyrillic, least: 0.5, words: true },
  { label: 'koi8-r', usual: cyrillic, least: 0.5, words: true },
  { label: 'iso-8859-5', usual: cyrillic, least: 0.5, words: true },
  { label: 'ibm866', usual: cyrillic, least: 0.5, words: true },
  { label: 'windows-1253', usual: /[αοιετσνηυρπκμλίάόέήώ]/u, least: 0.5, words: true },
  { label: 'windows-1255', usual: /[א-ת]/u, least: 0.8, words: true },
  { label: 'windows-1256', usual: /[اليمنوترهبعدفسكقةأ]/u, least: 0.6, words: true },
]

/** Charsets of Latin scripts, most likely first. */
const latins = ['windows-1252', 'iso-8859-2', 'windows-1250'] as const

const sampleBytes = 8192
const outsideAscii = /[^\p{ASCII}\p{P}\p{Z}]/gu
const control = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x9f]/
/** Consecutive non-ASCII letters, as in words of non-Latin scripts. */
const word = /(?:(?!\p{ASCII})\p{L}){3}/u
/** A non-ASCII letter next to an ASCII one, as in words of Latin scripts. */
const mixture = /[a-z](?=[^\p{ASCII}\P{L}])|[^\p{ASCII}\P{L}](?=[a-z])/giu
/** A non-letter between two letters. */
const brokenWord = /\p{L}(?=[^\p{ASCII}\p{L}\p{M}]\p{L})/gu

/**
 * Guesses the charset of bytes that are not UTF-8, as a `TextDecoder` label; `undefined` if none is likely. Examines 8 KiB from
 * the first non-ASCII byte.
 */
export function charsetOf(bytes: Buffer): string | undefined {
  const start = bytes.findIndex((byte) => byte >= 0x80)
  const sample = bytes.subarray(start, start + sampleBytes)
  let likeliest: string | undefined
  let most = 1
  for (const { label, usual, least, words } of charsets) {
    const text = decoded(sample, label)
    const found = text?.match(outsideAscii)
    if (text === undefined || !found) continue
    if (words && (!word.test(text) || (text.match(mixture)?.length ?? 0) * 10 > found.length)) continue
    const score = found.filter((character) => usual.test(character)).length / found.length / least
    if (score >= most) [likeliest, most] = [label, score]
  }
  return likeliest ?? (looksLatin(bytes) ? likeliestLatin(sample) : undefined)
}

/** `undefined` unless the whole sample is valid text in the charset. The last character may be incomplete. */
function decoded(sample: Buffer, label: string): string | undefined {
  try {
    const text = new TextDecoder(label, { fatal: true }).decode(sample, { stream: true })
    return control.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

/** Mostly ASCII, no control characters, and no long runs of bytes from 0x80, which other scripts have. */
function looksLatin(bytes: Buffer): boolean {
  let high = 0
  let run = 0
  for (const byte of bytes) {
    if (byte < 0x80) {
      if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return false
      run = 0
      continue
    }
    high++
    if (++run > 4) return false
  }
  return high * 10 <= bytes.length * 4
}

/** The Western charset, unless it breaks words that an eastern charset does not. */
function likeliestLatin(sample: Buffer): string {
  const breaks = (label: string) => {
    const text = new TextDecoder(label).decode(sample)
    return control.test(text) ? Number.POSITIVE_INFINITY : (text.match(brokenWord)?.length ?? 0)
  }
  const [western, ...eastern] = latins
  const broken = breaks(western)
  if (broken === 0 || broken === Number.POSITIVE_INFINITY) return western
  return eastern.find((label) => breaks(label) * 2 < broken) ?? western
}
