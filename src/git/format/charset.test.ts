import { describe, expect, test } from 'vitest'
import { charsetOf } from './charset.ts'
import { decodeText } from './text.ts'

/** Created with iconv and base64. */
const written = [
  ['shift_jis', '日本語のテキストです。', 'k/qWe4zqgsyDZYNMg1iDZ4LFgreBQg=='],
  ['shift_jis', 'int a; // 初期化', 'aW50IGE7IC8vII+JivqJuw=='],
  ['euc-jp', '日本語のテキストです。', 'xvzL3LjspM6lxqWtpbmlyKTHpLmhow=='],
  ['gb18030', '用来测试字符编码的文件', '08PAtLLiytTX1rf7seDC67XEzsS8/g=='],
  ['gb18030', 'int a; // 中文', 'aW50IGE7IC8vINbQzsQ='],
  ['big5', '用來測試字元編碼的檔案', 'pc6o07T6uNWmcqS4vXO9WKq6wMmu1w=='],
  ['euc-kr', '한국어 텍스트입니다.', 'x9Gxub7uIMXYvbrGrsDUtM+02S4='],
  ['windows-1251', 'Это русский текст.', '3fLuIPDz8fHq6Okg8uXq8fIu'],
  ['koi8-r', 'Это русский текст.', '/NTPINLV09PLycog1MXL09Qu'],
  ['ibm866', 'Это русский текст.', 'neKuIODj4eGqqKkg4qWq4eIu'],
  ['iso-8859-5', 'Это русский текст.', 'zeLeIODj4eHa2Nkg4tXa4eIu'],
  ['windows-1253', 'Αυτό είναι ένα κείμενο.', 'wfX0/CDl3+3h6SDd7eEg6uXf7OXt7y4='],
  ['windows-1255', 'זהו טקסט בעברית', '5uTlIOj38egg4fLh+On6'],
  ['windows-1256', 'هذا نص عربي لاختبار', '5dDHIOTVINrRyO0g4cfOysjH0Q=='],
  ['iso-8859-2', 'Zażółć gęślą jaźń, po polsku', 'WmG/87PmIGfqtmyxIGphvPEsIHBvIHBvbHNrdQ=='],
  ['windows-1250', 'Zażółć gęślą jaźń, po polsku', 'WmG/87PmIGfqnGy5IGphn/EsIHBvIHBvbHNrdQ=='],
  ['windows-1252', 'Größe, Übung, Straße; ÄÖÜ', 'R3L232UsINxidW5nLCBTdHJh32U7IMTW3A=='],
  ['windows-1252', 'Räksmörgås på svenska, åäö ÅÄÖ', 'UuRrc232cmflcyBw5SBzdmVuc2thLCDl5PYgxcTW'],
  ['windows-1252', 'à la carte, créée à Noël', '4CBsYSBjYXJ0ZSwgY3Lp6WUg4CBOb+ts'],
  ['windows-1252', '“don’t” – 20°C, Foo®', 'k2RvbpJ0lCCWIDIwsEMsIEZvb64='],
] as const

describe('bytes that are not UTF-8', () => {
  test.for(written)('the charset %s is detected: %s', ([charset, text, base64]) => {
    const bytes = Buffer.from(base64, 'base64')
    expect(charsetOf(bytes)).toBe(charset)
    expect(decodeText(bytes)).toBe(text)
  })

  test('the charset is detected from bytes after 100,000 ASCII lines', () => {
    const bytes = Buffer.concat([Buffer.from('a line\n'.repeat(100_000)), Buffer.from('d6d0cec4', 'hex')])
    expect(decodeText(bytes).endsWith('中文')).toBe(true)
  })

  test('bytes in no known charset lose those that are not UTF-8', () => {
    const bytes = Buffer.from([0x61, 0xff, 0xfe, 0x01, 0x80, 0x62])
    expect(charsetOf(bytes)).toBeUndefined()
    expect(decodeText(bytes)).toBe('a\u0001b')
  })
})
