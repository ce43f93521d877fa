import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSecrets, Secrets } from './secrets.ts'

const key = () => randomBytes(32)

describe('sealed secrets', () => {
  test('a sealed secret can be opened and looks different each time', () => {
    const secrets = new Secrets([key()])
    for (const text of ['', 'hunter2', 'ü'.repeat(5000)]) {
      const sealed = secrets.seal(text, 'test')
      expect(sealed).toMatch(/^v1:[0-9a-f]{8}:[\w-]+$/)
      expect(secrets.seal(text, 'test')).not.toBe(sealed)
      expect(secrets.open(sealed, 'test')).toBe(text)
    }
  })

  test('a sealed secret that was changed, truncated or is for another purpose is refused', () => {
    const secrets = new Secrets([key()])
    const sealed = secrets.seal('hunter2', 'variable 1')
    expect(() => secrets.open(sealed, 'variable 2')).toThrow()
    for (let at = 12; at < sealed.length; at++) {
      const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
      // The last character may have unused bits.
      if (!Buffer.from(changed.slice(12), 'base64url').equals(Buffer.from(sealed.slice(12), 'base64url')))
        expect(() => secrets.open(changed, 'variable 1')).toThrow()
    }
    expect(() => secrets.open(sealed.slice(0, 20), 'variable 1')).toThrow()
    expect(() => secrets.open('hunter2', 'variable 1')).toThrow('not a sealed secret')
  })

  test('a sealed secret can be opened while its old key exists, and resealed by the new key', () => {
    const [old, fresh] = [key(), key()]
    const sealed = new Secrets([old]).seal('hunter2', 'test')
    const rotated = new Secrets([fresh, old])
    expect(rotated.open(sealed, 'test')).toBe('hunter2')
    expect(rotated.stalePrefixes).toEqual([sealed.slice(0, 12)])
    const resealed = rotated.reseal(sealed, 'test')
    expect(resealed).not.toBe(sealed)
    expect(rotated.reseal(resealed, 'test')).toBe(resealed)
    expect(new Secrets([fresh]).open(resealed, 'test')).toBe('hunter2')
    expect(() => new Secrets([fresh]).open(sealed, 'test')).toThrow('is missing')
  })
})

describe('the key file', () => {
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'stithy-secrets-'))
    onTestFinished(() => rmSync(made, { recursive: true }))
    return made
  }

  test('the key file is created once, readable only by its owner', () => {
    const dir = folder()
    const file = join(dir, 'secrets.keys')
    const sealed = openSecrets(file).seal('hunter2', 'test')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(openSecrets(file).open(sealed, 'test')).toBe('hunter2')
    expect(readdirSync(dir)).toEqual(['secrets.keys'])
    expect(readFileSync(file, 'utf8')).toMatch(/^[\w-]{43}\n$/)
  })

  test('a key file that others can read is refused', () => {
    const file = join(folder(), 'secrets.keys')
    openSecrets(file)
    chmodSync(file, 0o640)
    expect(() => openSecrets(file)).toThrow('readable by its owner alone')
  })
})
