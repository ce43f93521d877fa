import { checkStatements } from '../checks.ts'
import { Check } from './check.ts'
import { shareDescriptions } from './described.ts'

// Loaded before anything else by the processes of tests and by those that tests start. `?shared=` names the folder of descriptions.
const shared = new URL(import.meta.url).searchParams.get('shared')
if (shared !== null) shareDescriptions(shared)
checkStatements((url) => new Check(url))
