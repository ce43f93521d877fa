import { expect, test } from 'vitest'
import { splitSignatures } from './signed-commit.ts'

const head = 'tree 1\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n'
const split = (text: string) => {
  const { payload, signatures } = splitSignatures(Buffer.from(text, 'latin1'))
  return { payload: payload.toString('latin1'), signatures }
}

test('the signed payload is the commit without its signatures, byte for byte', () => {
  expect(split(`${head}gpgsig one\n two\n  three\nencoding x\n\nA\xff\ngpgsig none\n`)).toEqual({
    payload: `${head}encoding x\n\nA\xff\ngpgsig none\n`,
    signatures: ['one\ntwo\n three\n'],
  })
  expect(split(`${head}\nA`)).toEqual({ payload: `${head}\nA`, signatures: [] })
})

test('SHA-256 signatures are removed from the payload, and several signatures are separated', () => {
  expect(split(`${head}gpgsig-sha256 x\n y\ngpgsig one\ngpgsig two\nmergetag object\n z\n\nA`)).toEqual({
    payload: `${head}mergetag object\n z\n\nA`,
    signatures: ['one\n', 'two\n'],
  })
})

test('truncated commits are split without an error', () => {
  for (const text of ['', ' x', 'gpgsig', 'gpgsig ', 'gpgsig x', `${head}gpgsig x\n y`])
    expect(() => split(text)).not.toThrow()
})
