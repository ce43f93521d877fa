import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSecrets, Secrets } from './secrets.ts'

const key = () => randomBytes(32)

describe('sealed secrets', () => {
  test('are read again, and look like nothing, not even like the same twice', () => {
    const secrets = new Secrets([key()])
    for (const text of ['', 'hunter2', 'ü'.repeat(5000)]) {
      const sealed = secrets.seal(text, 'test')
      expect(sealed).toMatch(/^v1:[0-9a-f]{8}:[\w-]+$/)
      expect(secrets.seal(text, 'test')).not.toBe(sealed)
      expect(secrets.open(sealed, 'test')).toBe(text)
    }
  })

  test('are refused when they were changed, cut, or are for another purpose', () => {
    const secrets = new Secrets([key()])
    const sealed = secrets.seal('hunter2', 'variable 1')
    expect(() => secrets.open(sealed, 'variable 2')).toThrow()
    for (let at = 12; at < sealed.length; at++) {
      const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
      // The last digit may hold bits that mean nothing.
      if (!Buffer.from(changed.slice(12), 'base64url').equals(Buffer.from(sealed.slice(12), 'base64url')))
        expect(() => secrets.open(changed, 'variable 1')).toThrow()
    }
    expect(() => secrets.open(sealed.slice(0, 20), 'variable 1')).toThrow()
    expect(() => secrets.open('hunter2', 'variable 1')).toThrow('not a sealed secret')
  })

  test('outlive a rotation as long as the old key is there, and tell that they are stale', () => {
    const [old, fresh] = [key(), key()]
    const sealed = new Secrets([old]).seal('hunter2', 'test')
    const rotated = new Secrets([fresh, old])
    expect(rotated.open(sealed, 'test')).toBe('hunter2')
    expect(rotated.isStale(sealed)).toBe(true)
    expect(rotated.isStale(rotated.seal('hunter2', 'test'))).toBe(false)
    expect(() => new Secrets([fresh]).open(sealed, 'test')).toThrow('is not there')
  })
})

describe('the file of keys', () => {
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'stithy-secrets-'))
    onTestFinished(() => rmSync(made, { recursive: true }))
    return made
  }

  test('is made once, for its owner alone', () => {
    const dir = folder()
    const file = join(dir, 'secrets.keys')
    const sealed = openSecrets(file).seal('hunter2', 'test')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(openSecrets(file).open(sealed, 'test')).toBe('hunter2')
    expect(readdirSync(dir)).toEqual(['secrets.keys'])
    expect(readFileSync(file, 'utf8')).toMatch(/^[\w-]{43}\n$/)
  })

  test('is refused when others can read it', () => {
    const file = join(folder(), 'secrets.keys')
    openSecrets(file)
    chmodSync(file, 0o640)
    expect(() => openSecrets(file)).toThrow('readable by its owner alone')
  })
})
