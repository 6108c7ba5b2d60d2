// `bulkhead pull`: writes the definition of an app into the files of a project.
import { CommandFailed } from '../remote/failure.ts';
import { appPath } from '../remote/place.ts';
import { printable, printJson, printLine } from '../remote/print.ts';
import { definitionFiles, outdatedFiles, writeProjectFiles } from '../remote/project-definition.ts';
import { type Remote, remoteCommand } from './remote-command.ts';

/** Pulls a definition. */
export const pull = remoteCommand({
  name: 'pull',
  description: 'Write the collections, rules, hook files and policies of an app into bulkhead/.',
  level: 'app',
  args: {
    check: { type: 'boolean', description: 'Write nothing, and fail if a file is not as the app is' },
  },
  run: pullDefinition,
});

async function pullDefinition({ client, place, given, json }: Remote): Promise<void> {
  const { body } = await client.request(`${appPath(place)}/definition`);
  const outdated = outdatedFiles(definitionFiles(body));
  const paths = outdated.map(({ path }) => path);
  if (given.has('check')) {
    if (paths.length === 0) {
      return json ? printJson({ outdated: [] }) : printLine('All files are up to date.');
    }
    throw new CommandFailed('refused', printable(`not as the app is: ${paths.join(', ')}`), 'outdated');
  }
  writeProjectFiles(outdated);
  if (json) printJson({ written: paths });
  else if (paths.length === 0) printLine('All files are up to date.');
  else for (const path of paths) printLine(printable(`wrote ${path}`));
}
