// Reads and writes descriptor 3, the runner's end of the channel.
//
// The binding below `node:net` needs no permission either, and saves each runner the 5 ms and 1.5 MiB that loading
// `node:net` costs. It is private to Deno, whose version is pinned; the tests of the runner cover it.

/** Indexes into `streamBaseState`: the result of a read, and the flag of a write that is still under way. */
const readBytesOrError = 0;
const lastWriteWasAsync = 3;

/** The number of a pipe that can be read and written, as libuv counts the kinds. */
const socket = 0;

interface WriteRequest {
  oncomplete: (status: number) => void;
}

interface PipeHandle {
  onread: (data: ArrayBuffer | undefined) => void;
  /** All of these return 0, or an error number below it. */
  open(descriptor: number): number;
  readStart(): number;
  writeBuffer(request: WriteRequest, bytes: Uint8Array): number;
}

interface PipeBinding {
  Pipe: new (type: number) => PipeHandle;
}

interface StreamBinding {
  WriteWrap: new () => WriteRequest;
  streamBaseState: Int32Array;
}

/** An open descriptor. */
export interface Descriptor {
  /** Returns true when the system has accepted the bytes at once. Otherwise they must not be modified any more. */
  write(bytes: Uint8Array): boolean;
  /** Bytes that the system has not accepted yet. */
  readonly waiting: number;
}

/** Opens descriptor 3. `onEnd` is called when the other end is closed or a write fails. */
export function openDescriptor(
  onBytes: (bytes: Uint8Array<ArrayBuffer>) => void,
  onEnd: () => void,
): Descriptor {
  const { Pipe } = binding<PipeBinding>('pipe_wrap');
  const { WriteWrap, streamBaseState } = binding<StreamBinding>('stream_wrap');
  const pipe = new Pipe(socket);
  let waiting = 0;
  pipe.onread = (data) => {
    const count = streamBaseState[readBytesOrError] ?? -1;
    if (count < 0 || data === undefined) onEnd();
    else if (count > 0) onBytes(new Uint8Array(data, 0, count));
  };
  if (pipe.open(3) !== 0 || pipe.readStart() !== 0) onEnd();
  return {
    get waiting() {
      return waiting;
    },
    write(bytes) {
      const request = new WriteWrap();
      const { length } = bytes;
      const onWritten = (status: number) => {
        waiting -= length;
        if (status < 0) onEnd();
      };
      // Not a function expression in the assignment: V8 would allocate that among the long-lived objects.
      request.oncomplete = onWritten;
      if (pipe.writeBuffer(request, bytes) !== 0) onEnd();
      if (streamBaseState[lastWriteWasAsync] === 0) return true;
      waiting += length;
      return false;
    },
  };
}

/** Calls `process.binding`, which the types of Node do not declare. */
function binding<Binding>(name: string): Binding {
  const read: unknown = Reflect.get(process, 'binding');
  if (typeof read !== 'function') throw new Error('this Deno has no process.binding');
  return read.call(process, name);
}
