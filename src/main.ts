import { main } from './processes/main.ts'

const here = (path: string) => new URL(path, import.meta.url).href

await main({ appModule: here('./commands.ts'), runnerModule: here('./git/runner/start.ts') })
