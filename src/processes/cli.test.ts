import { describe, expect, test } from 'vitest'
import { parseConfig } from '../config.ts'
import { run } from './cli.ts'

/** Runs a command that ends before any part is needed, without valid settings. */
const command = (...words: string[]) => commandWith({ STITHY_HTTP_PORT: 'no', STITHY_PLAN: 'no' }, words)

async function commandWith(env: Readonly<Record<string, string>>, words: readonly string[]) {
  const lines = { out: '', err: '' }
  const code = await run(words, {
    config: () => parseConfig(env),
    parts: { appModule: 'file:///none.ts', runnerModule: 'file:///none.ts' },
    terminal: {
      out: (line) => {
        lines.out += line
      },
      err: (line) => {
        lines.err += line
      },
    },
  })
  return { code, ...lines }
}

describe('the command line', () => {
  test('--help and --version need no settings', async () => {
    expect(await command('--help')).toMatchObject({ code: 0, out: expect.stringContaining('stithy serve'), err: '' })
    expect(await command('--version')).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+$/) })
  })

  test('without a command the help is printed and the exit code is 2', async () => {
    expect(await command()).toMatchObject({ code: 2, out: expect.stringContaining('stithy serve') })
  })

  test('all invalid settings are reported and nothing starts', async () => {
    const { code, err } = await command('serve')
    expect(code).toBe(2)
    expect(err).toMatch(/^2 invalid settings:\n {2}- STITHY_HTTP_PORT .*\n {2}- STITHY_PLAN .*$/)
  })

  test.for([
    { words: ['run'], err: 'There is no command "run".' },
    { words: ['token'], err: 'There is no command "token".' },
    { words: ['serve', '--port', '1'], err: "Unknown option '--port'." },
    { words: ['serve', '--user', 'ann'], err: 'The command "serve" has no option --user.' },
    { words: ['blobs', 'move', '--to', ''], err: 'The option --to is empty.' },
    { words: ['backup', '--to', ' '], err: 'The option --to is empty.' },
    { words: ['restore', '--from', '/backup', '--into='], err: 'The option --into is empty.' },
    { words: ['user', 'unlock', '--user', ''], err: 'The option --user is empty.' },
  ])('the command line $words is refused with one sentence', async ({ words, err }) => {
    expect(await command(...words)).toEqual({ code: 2, out: '', err: `${err} See stithy --help.` })
  })

  test.for([
    { words: ['backup'], err: /^Where are the backups\?/ },
    { words: ['backup', 'list'], err: /^Where are the backups\?/ },
    { words: ['backup', 'verify'], err: /^Where are the backups\?/ },
    { words: ['restore'], err: /^Where are the backups\?/ },
    { words: ['backup', '--to', 'ftp://example.com/b'], err: /^--to must be a folder/ },
    { words: ['restore', '--from', 's3://'], err: /^--from must name a bucket/ },
    { words: ['backup', '--to', '/srv/stithy/backups'], err: /^Backups in the data folder would be lost/ },
  ])('the exit code of $words is 2, because it names no place of backups', async ({ words, err }) => {
    expect(await commandWith({ STITHY_DATA_DIR: '/srv/stithy' }, words)).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(err),
    })
  })

  test.for(['2020-01-31', new Date().toISOString().slice(0, 10)])(
    'a token that would be expired from the start, on %s, is refused',
    async (day) => {
      const words = ['token', 'create', '--user', 'ann', '--scopes', 'api', '--expires-at', day]
      expect(await commandWith({}, words)).toEqual({
        code: 2,
        out: '',
        err: '--expires-at must be after today (UTC): a token expires when its day begins. See stithy --help.',
      })
    },
  )
})
