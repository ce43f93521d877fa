import { expect, test } from 'vitest'
import { parseColor, textColor } from './colors.ts'

test.for([
  ['#428BCA', '#428BCA'],
  [' #abc ', '#aabbcc'],
  ['RebeccaPurple', '#663399'],
  ['red', '#FF0000'],
  ['yellowgreen', '#9ACD32'],
  ['428BCA', undefined],
  ['#12', undefined],
  ['#1234567', undefined],
  ['constructor', undefined],
  ['', undefined],
] as const)('the color %s is parsed as %s', ([text, color]) => {
  expect(parseColor(text)).toBe(color)
})

test.for([
  ['#ffffff', '#333333'],
  ['#000000', '#FFFFFF'],
  // A sum of 500 is dark, 501 is light.
  ['#a7a7a6', '#FFFFFF'],
  ['#a7a7a7', '#333333'],
] as const)('the text color on %s is %s', ([color, text]) => {
  expect(textColor(color)).toBe(text)
})
