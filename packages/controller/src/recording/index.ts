/**
 * The flight recorder: notes what enters a program, and gives it the same again.
 *
 * @packageDocumentation
 */

export { type Foreign, foreignText, watchForeign } from "./foreign.ts";
export type { Head } from "./head.ts";
export { type Divergence, Player, type PlayerOptions, type Replayed } from "./player.ts";
export { Recorder, type RecorderOptions } from "./recorder.ts";
export { type OpenOptions, openRecording, Recording } from "./recording.ts";
export { RECORDING_OPTIONS, type RecordingOptions } from "./recording-options.ts";
export { Redactor } from "./redactor.ts";
export type { SeamTime, SeamTimer } from "./seam-clock.ts";
export type { Fold } from "./snapshots.ts";
export { type Course, type Line, type Live, type OpenCall, type StopInput, Tape } from "./tape.ts";
export type { Codec } from "./values.ts";
