import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A git that writes down each run of `pack-objects` for a client, which the test can hold back and interrupt. */
export class RecordedPacks implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'stithy-packs-'))
  /** Where processes find this git: their variable `PATH`. */
  readonly path: string

  constructor() {
    const before = process.env['PATH']!
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
    this.path = `${this.#folder}:${before}`
    this.#program(
      'git',
      'number=$GIT_CONFIG_COUNT',
      `export "GIT_CONFIG_KEY_$number=uploadpack.packObjectsHook" "GIT_CONFIG_VALUE_$number=${this.#folder}/pack"`,
      'export GIT_CONFIG_COUNT=$((number + 1))',
      `PATH='${before}' exec '${real}' "$@"`,
    )
    this.#program(
      'pack',
      `echo $$ >> '${this.#folder}/packs'`,
      `while [ -e '${this.#folder}/hold' ]; do sleep 0.02; done`,
      // Half of the pack, and then the end of a process that is killed.
      `if rmdir '${this.#folder}/cut' 2>&-; then "$@" | head -c 1000000; kill -9 $$; fi`,
      'exec "$@"',
    )
  }

  #program(name: string, ...lines: string[]): void {
    writeFileSync(join(this.#folder, name), ['#!/bin/sh', ...lines, ''].join('\n'))
    chmodSync(join(this.#folder, name), 0o755)
  }

  /** The ids of the processes that made a pack. */
  get ids(): number[] {
    const path = join(this.#folder, 'packs')
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean).map(Number) : []
  }

  /** Lets no pack begin until it is called again with false. */
  hold(isHeld: boolean): void {
    if (isHeld) writeFileSync(join(this.#folder, 'hold'), '')
    else rmSync(join(this.#folder, 'hold'), { force: true })
  }

  /** Ends the next run in the middle of its pack. */
  cutNext(): void {
    mkdirSync(join(this.#folder, 'cut'))
  }

  [Symbol.dispose](): void {
    this.hold(false)
    rmSync(this.#folder, { recursive: true })
  }
}
