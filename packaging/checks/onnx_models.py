# SPDX-License-Identifier: Apache-2.0
"""Public ONNX models against ONNX Runtime: writes the inputs, lets onnxrun run them, judges.

usage: onnx_models.py WHEELS WORK ONNXRUN [--passes LIST] [--only REGEX] [--torch]

WHEELS holds the unpacked packages of PACKAGES. A model passes when no output differs by more than
1e-3 of its largest element and all decisions (largest of the last axis, or above one half where
there is one) are the same.
"""
import argparse
import hashlib
import itertools
import json
import pathlib
import re
import subprocess
import sys
import time

import numpy as np
import onnxruntime as ort
from PIL import Image, ImageDraw, ImageFont

LIMIT = 1e-3
PASS_LIMIT = 1e-4
RATE = 16000
CHUNK = 512
FONTS = ["/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"]


def random(seed):
    return np.random.default_rng(seed)


def speech(seconds):
    """Something like speech: syllables of harmonics with a moving pitch, hisses, and pauses."""
    rng = random(1)
    n = int(seconds * RATE)
    out = np.zeros(n, np.float64)
    at = 0
    while at < n:
        length = int(RATE * rng.uniform(0.08, 0.35))
        t = np.arange(length) / RATE
        kind = rng.random()
        if kind < 0.6:
            pitch = rng.uniform(90, 220) * (1 + 0.1 * np.sin(2 * np.pi * rng.uniform(2, 6) * t))
            phase = 2 * np.pi * np.cumsum(pitch) / RATE
            formants = rng.uniform([300, 900, 2200], [800, 1800, 3200])
            part = sum(
                np.sin(k * phase) / k * sum(np.exp(-(((k * pitch - f) / 250) ** 2)) for f in formants)
                for k in range(1, 25)
            )
            part = part / (np.abs(part).max() + 1e-9) * rng.uniform(0.1, 0.5)
        elif kind < 0.8:
            part = rng.normal(0, rng.uniform(0.02, 0.1), length)
        else:
            part = np.zeros(length)
        part = part * np.hanning(length)
        out[at : at + length] += part[: n - at]
        at += length
    return (out + rng.normal(0, 1e-3, n)).astype(np.float32)


def photo(height, width):
    """A smooth scene with shapes in it, [1, 3, height, width] from 0 to 1."""
    image = Image.new("RGB", (width, height))
    draw = ImageDraw.Draw(image)
    for y in range(height):
        draw.line([(0, y), (width, y)], fill=(90 + 100 * y // height, 140, 200 - 120 * y // height))
    draw.ellipse([width * 0.3, height * 0.15, width * 0.6, height * 0.55], fill=(224, 172, 105))
    draw.rectangle([width * 0.25, height * 0.5, width * 0.7, height * 0.95], fill=(180, 60, 60))
    draw.rectangle([width * 0.75, height * 0.6, width * 0.95, height * 0.9], fill=(40, 90, 40))
    noise = random(2).normal(0, 4, (height, width, 3))
    pixels = np.clip(np.asarray(image, np.float32) + noise, 0, 255) / 255
    return pixels.transpose(2, 0, 1)[None].astype(np.float32)


def font(size):
    for name in FONTS:
        if pathlib.Path(name).exists():
            return ImageFont.truetype(name, size)
    return ImageFont.load_default(size)


def text_line(text, size=36):
    image = Image.new("RGB", (64 + 24 * len(text), 96), "white")
    ImageDraw.Draw(image).text((24, 24), text, fill="black", font=font(size))
    return image


def normalised(image, height, width):
    pixels = np.asarray(image.resize((width, height)), np.float32) / 255
    return ((pixels - 0.5) / 0.5).transpose(2, 0, 1)[None].astype(np.float32)


def detector_input(image):
    width, height = (max(32, round(n / 32) * 32) for n in image.size)
    pixels = np.asarray(image.resize((width, height)), np.float32) / 255
    pixels = (pixels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    return pixels.transpose(2, 0, 1)[None].astype(np.float32)


def frames(width, context):
    """A minute in chunks of 512 samples, each behind the end of the one before: [steps, 1, n]."""
    audio = speech(60)
    steps = len(audio) // CHUNK
    padded = np.concatenate([np.zeros(context, np.float32), audio])
    return np.stack([padded[i * CHUNK : i * CHUNK + context + CHUNK][None] for i in range(steps)])


def grey_line(text):
    image = text_line(text).convert("L")
    width = int(image.width * 64 / image.height)
    return (np.asarray(image.resize((width, 64)), np.float32) / 255)[None, None]


def file_bytes():
    """magika's view of a file: 1024 bytes of its beginning and of its end, 256 for what is missing."""
    rows = []
    for data in (pathlib.Path(__file__).read_bytes(), b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9,
                 b"<!DOCTYPE html>\n<html><body>" + b"<p>words and words</p>\n" * 60,
                 b'{"name": "value", "list": [1, 2, 3]}', b"#include <stdio.h>\nint main(void) { return 0; }\n" * 30):
        row = np.full(2048, 256, np.int32)
        first, last = data.strip()[:1024], data.strip()[-1024:]
        row[: len(first)] = list(first)
        row[2048 - len(last) :] = list(last)
        rows.append(row)
    return np.stack(rows)


def mels(frame_count):
    return np.abs(random(3).normal(0, 1, (1, frame_count, 96))).astype(np.float32)


class Model:
    """A file, its inputs for each step, which outputs feed inputs, and inputs that become constants.

    The decision is the largest of the first output's last axis, or whether it is `above` that value.
    """

    def __init__(self, name, package, path, digest, inputs, feedback=None, fix=(), steps=1, above=None, dims=None,
                 limit=LIMIT):
        self.name, self.package, self.path, self.digest = name, package, path, digest
        self.inputs, self.feedback, self.fix, self.steps = inputs, feedback or {}, list(fix), steps
        self.above, self.dims, self.limit = above, dims or {}, limit


def one(**inputs):
    """Inputs of a single step."""
    return lambda: {name: value[None] for name, value in inputs.items()}


def named(name, value):
    return lambda: {name: value()[None]}


def silero(context, state):
    def make():
        audio = frames(CHUNK, context)
        inputs = {"input": audio, "sr": np.full(len(audio), RATE, np.int64)}
        inputs.update({k: np.zeros((1, *shape), np.float32) for k, shape in state.items()})
        return inputs

    return make


SILERO4 = dict(feedback={"hn": "h", "cn": "c"}, fix=["sr"], steps=60 * RATE // CHUNK, above=0.5)
SILERO5 = dict(feedback={"stateN": "state"}, fix=["sr"], steps=60 * RATE // CHUNK, above=0.5,
               dims={"input.0": 1, "input.1": 576, "state.1": 1})
WAKE = "openwakeword/resources/models/"
OCR = "rapidocr_onnxruntime/models/"
EEG = "brainmaze_eeg_models/"

PACKAGES = [
    "silero-vad==5.1.2", "silero-vad==6.0.0", "openwakeword==0.5.1", "openwakeword==0.4.0",
    "rapidocr-onnxruntime==1.4.4", "magika==0.6.1", "nudenet==3.4.2", "ddddocr==1.6.1",
    "brainmaze-eeg-models==0.1.0", "akiki==0.0.6", "arabic-name-romanizer==0.2.0", "captcha-whisperer==0.1.0",
]


def words():
    rng = random(4)
    return {"src": rng.integers(1, 60, (1, 3, 9)), "src_mask": np.ones((1, 3, 9), bool)}


def prefix():
    rng = random(5)
    return {
        "prefix": rng.integers(1, 60, (1, 3, 5)),
        "memory": rng.normal(0, 0.3, (1, 3, 9, 256)).astype(np.float32),
        "src_mask": np.ones((1, 3, 9), bool),
        "hidden": rng.normal(0, 0.3, (1, 3, 2, 256)).astype(np.float32),
    }


def eeg(seconds):
    t = np.arange(seconds * 250) / 250
    wave = np.sin(2 * np.pi * 10 * t) + 0.6 * np.sin(2 * np.pi * 13 * t) * (np.abs(t - 12) < 1)
    raw = (wave + random(6).normal(0, 0.3, len(t))).astype(np.float32)[None, None]
    bands = np.stack([np.abs(np.convolve(raw[0, 0], np.hanning(2 * k + 3), "same")) for k in range(15)])
    return {"raw_signal": raw[None], "spectrogram": bands.astype(np.float32)[None, None]}


def models():
    yield Model("silero-vad-v4", "openwakeword-0.5.1", WAKE + "silero_vad.onnx",
                "a35ebf52fd3ce5f1469b2a36158dba761bc47b973ea3382b3186ca15b1f5af28", silero(0, {"h": (2, 1, 64), "c": (2, 1, 64)}), **SILERO4)
    yield Model("silero-vad-v5", "silero_vad-5.1.2", "silero_vad/data/silero_vad.onnx",
                "2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f", silero(64, {"state": (2, 1, 128)}), **SILERO5)
    yield Model("silero-vad-v6", "silero_vad-6.0.0", "silero_vad/data/silero_vad.onnx",
                "597d30b3ec076608d059477bb14cfeffdf951bf5cae370d38f65d33bbfe82004", silero(64, {"state": (2, 1, 128)}), **SILERO5)
    yield Model("silero-vad-v6-op15", "silero_vad-6.0.0", "silero_vad/data/silero_vad_16k_op15.onnx",
                "794ed8a51d4f37faf0555383aa34dbaeeb83e3031a1df1e0351c457e1142bd3e", silero(64, {"state": (2, 1, 128)}), **SILERO5)
    yield Model("openwakeword-mel", "openwakeword-0.5.1", WAKE + "melspectrogram.onnx",
                "ba2b0e0f8b7b875369a2c89cb13360ff53bac436f2895cced9f479fa65eb176f", named("input", lambda: speech(2)[None] * 32767))
    yield Model("openwakeword-embedding", "openwakeword-0.5.1", WAKE + "embedding_model.onnx",
                "70d164290c1d095d1d4ee149bc5e00543250a7316b59f31d056cff7bd3075c1f", named("input_1", lambda: random(7).normal(1, 1, (4, 76, 32, 1)).astype(np.float32)))
    for name, digest, count, tensor, package in (
        ("alexa", "6ff566a01d12670e8d9e3c59da32651db1575d17272a601b7f8a39283dfbae3e", 16, "onnx::Flatten_0", "0.5.1"),
        ("hey_jarvis", "94a13cfe60075b132f6a472e7e462e8123ee70861bc3fb58434a73712ee0d2cb", 16, "x.1", "0.5.1"),
        ("hey_mycroft", "c2a311e8fa1338de89c31b3b46dc4dffd4af2f9a8d6ddead48893c2d301b1f18", 16, "onnx::Flatten_0", "0.5.1"),
        ("hey_rhasspy", "5a9b3ed3be2910e35780e097905aa9f35a9c10038df47914cf2b3ec4d670f6ea", 16, "onnx::Flatten_0", "0.5.1"),
        ("timer", "371e44535470a29248b3b8f1bbbbaf2525c86417fd8f75c67fcf02ae0b9626df", 34, "onnx::Flatten_0", "0.5.1"),
        ("weather", "8441da8e746899e8d969528d5bad5651cdd563079c05962788f77753041f60e7", 22, "onnx::Flatten_0", "0.5.1"),
        ("hey_marvin", "b6d4b794ddf2e1d6f29e9f45848e24858e2edd0d810b14e0c1c70dda9a1fcbf0", 16, "onnx::Flatten_0", "0.4.0"),
    ):
        yield Model("openwakeword-" + name, "openwakeword-" + package, f"{WAKE}{name}_v0.1.onnx", digest,
                    named(tensor, lambda count=count: mels(count)), above=None if name == "timer" else 0.5)
    yield Model("ppocr-det", "rapidocr_onnxruntime-1.4.4", OCR + "ch_PP-OCRv4_det_infer.onnx",
                "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9", named("x", lambda: detector_input(text_line(LINE))), above=0.3)
    yield Model("ppocr-rec", "rapidocr_onnxruntime-1.4.4", OCR + "ch_PP-OCRv4_rec_infer.onnx",
                "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b", named("x", lambda: normalised(text_line(LINE), 48, 480)))
    yield Model("ppocr-cls", "rapidocr_onnxruntime-1.4.4", OCR + "ch_ppocr_mobile_v2.0_cls_infer.onnx",
                "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c", named("x", lambda: normalised(text_line(LINE).rotate(180), 48, 192)))
    yield Model("magika", "magika-0.6.1", "magika/models/standard_v3_2/model.onnx",
                "ba4f372744331c0088d7c9b8b4fd702f4bc2bdddbeecde27488fceeadf71c3ce", named("bytes", file_bytes))
    yield Model("nudenet (YOLOv8 detector)", "nudenet-3.4.2", "nudenet/320n.onnx",
                "c15d8273adad2d0a92f014cc69ab2d6c311a06777a55545f2c4eb46f51911f0f", named("images", lambda: photo(320, 320)))
    yield Model("ddddocr-det (YOLOX detector)", "ddddocr-1.6.1", "ddddocr/common_det.onnx",
                "6faa8ea85a8c1a634e5050c4a138fca10f30194e0d7abbe9ade1fcd423af6ed6", named("images", lambda: photo(416, 416) * 255))
    yield Model("ddddocr (convolutions, LSTM)", "ddddocr-1.6.1", "ddddocr/common.onnx",
                "33b5cd351ee94e73a6bf8fa18c415ed8b819b3ffd342e267c30d8ad8334e34e8", named("input1", lambda: grey_line("A7kQ")))
    yield Model("ddddocr-old (quantised)", "ddddocr-1.6.1", "ddddocr/common_old.onnx",
                "b8f2ad9cbc1f2e3922a6cb9459e30824e7e2467f3fb4fd61420640e34ea0bf68", named("input1", lambda: grey_line("A7kQ")),
                # ONNX Runtime rounds what goes into the LSTM to 8 bits, NEF does not: the decisions count.
                limit=0.1)
    yield Model("captcha-crnn", "captcha_whisperer-0.1.0", "captcha_whisperer/models/captcha_crnn.onnx",
                "7298347e85a4dfe3265b73874f1af42b17f0a8979688b48a44eaec4a50100c7b", named("image", lambda: normalised(text_line("a7kq"), 60, 160)))
    yield Model("brainmaze-spindles (segmenter)", "brainmaze_eeg_models-0.1.0", EEG + "spindles/_models/spindle-detector-eeg.onnx",
                "8368ef11554dda32178d65320c5b4690456c5c6cebd207d4ba0e68d3d5179e81", lambda: eeg(30))
    yield Model("brainmaze-seizure (time series)", "brainmaze_eeg_models-0.1.0", EEG + "seizure/_models/modelA_paper.onnx",
                "088c815a10b54435432a0bef2629977d59e655a0c60b48a89e744aa52b6d48e3", named("x", lambda: random(8).normal(0, 1, (2, 100, 240)).astype(np.float32)))
    yield Model("akiki-vad (GRU, speech)", "akiki-0.0.6", "akiki/models/akiki-vad.onnx", "0fab56bc4ea6725ec881c35973e04813a4963dc5bbf4bf5ccfe8fd7cf468c6f5",
                lambda: {"audio_with_context": frames(CHUNK, 64), "h": np.zeros((1, 1, 1, 128), np.float32)},
                feedback={"h_out": "h"}, above=0.5, steps=60 * RATE // CHUNK)
    yield Model("romanizer-encoder (text)", "arabic_name_romanizer-0.2.0", "arabic_name_romanizer/resources/encoder.onnx",
                "f5d65df2189e5ec3929a3167d70de5f1f9eedd89dab964875039089581c5ec49", words)
    yield Model("romanizer-decoder (text)", "arabic_name_romanizer-0.2.0", "arabic_name_romanizer/resources/decoder.onnx",
                "2365c42d362313c21748750eefebf3a61fd8045f73a98644176eca538200841a", prefix)


LINE = "The quick brown fox 0123456789"


EXPORTED = "minilm-torch"  # not a package: what export_minilm.py writes


def exported(folder):
    """MiniLM as PyTorch exports it, on the tokens of real text."""
    yield Model("minilm (exported by PyTorch)", EXPORTED, "model.onnx", None,
                lambda: {k: v[None] for k, v in np.load(folder / EXPORTED / "tokens.npz").items()})


def at(value, step):
    return np.asarray(value[min(step, len(value) - 1)])


def run_peer(model, path, inputs):
    """All steps with ONNX Runtime: stacked outputs, median milliseconds of one."""
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 2
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    known = {i.name for i in session.get_inputs()}
    state, steps, times = {}, [], []
    for step in range(model.steps):
        feed = {k: state.get(k, at(v, step)) for k, v in inputs.items() if k in known}
        begin = time.perf_counter()
        outs = dict(zip(names, session.run(names, feed)))
        times.append(time.perf_counter() - begin)
        state = {model.feedback[k]: v for k, v in outs.items() if k in model.feedback}
        steps.append(outs)
    feed = {k: at(v, 0) for k, v in inputs.items() if k in known}
    while len(times) < 10:
        begin = time.perf_counter()
        session.run(names, feed)
        times.append(time.perf_counter() - begin)
    return {k: np.stack([s[k] for s in steps]) for k in names}, float(np.median(times)) * 1000


def digest_fault(model, path):
    if model.digest is None:
        return ""
    have = hashlib.sha256(path.read_bytes()).hexdigest()
    return "" if have == model.digest else f"sha256 is {have}, want {model.digest}"


def write_job(model, path, folder, inputs):
    for sub in ("in", "out"):
        (folder / sub).mkdir(parents=True, exist_ok=True)
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    known = {i.name for i in session.get_inputs()}
    names = {n: f"t{i}" for i, n in enumerate([*inputs, *(o.name for o in session.get_outputs())])}
    for name, value in inputs.items():
        np.save(folder / "in" / (names[name] + ".npy"), value)
    fix = [n for n in model.fix if n in known]
    job = {"model": str(path), "steps": model.steps, "feedback": model.feedback, "fix": fix, "names": names,
           "dims": {k: {"Min": v, "Max": v} for k, v in model.dims.items()}}
    (folder / "job.json").write_text(json.dumps(job))
    return names


def decisions(value, above):
    if value.dtype.kind != "f":
        return value
    return value.argmax(-1) if above is None else value > above


def compare(got, want, above):
    """The greatest difference relative to the largest element, and how many decisions differ."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf"), f"{got.dtype} {got.shape} instead of {want.dtype} {want.shape}"
    if want.size == 0:
        return 0.0, 0
    scale = np.abs(want.astype(np.float64)).max() or 1.0
    error = np.abs(got.astype(np.float64) - want.astype(np.float64)).max() / scale
    return float(error), int((decisions(got, above) != decisions(want, above)).sum())


def judge(model, folder, names, want):
    worst, flips = 0.0, 0
    for i, (name, value) in enumerate(want.items()):
        error, flipped = compare(np.load(folder / "out" / (names[name] + ".npy")), value, model.above)
        worst = max(worst, error)
        if i == 0 or isinstance(flipped, str):
            flips = flipped
    return worst, flips


def ctc(scores, characters):
    best = scores.argmax(-1)
    keep = [c for i, c in enumerate(best) if c != 0 and (i == 0 or c != best[i - 1])]
    return "".join(characters[c - 1] for c in keep if c - 1 < len(characters))


def read_line(wheels, work, runner):
    """A rendered line end to end: where the detector sees text, what the recogniser reads there."""
    image = text_line(LINE)
    base = wheels / "rapidocr_onnxruntime-1.4.4" / OCR
    det = Model("line-det", "", "", "", named("x", lambda: detector_input(image)))
    map_ = next(iter(run_ours(det, base / "ch_PP-OCRv4_det_infer.onnx", work / "line-det", runner).values()))[0, 0, 0]
    rows, columns = np.nonzero(map_ > 0.3)
    if len(rows) == 0:
        return "", "the detector sees nothing"
    sx, sy = image.width / map_.shape[1], image.height / map_.shape[0]
    # The map shows text shrunk; it grows back by what the detector was trained with.
    high, wide = (rows.max() - rows.min() + 1) * sy, (columns.max() - columns.min() + 1) * sx
    grow = 1.6 * high * wide / (2 * (high + wide))
    box = [columns.min() * sx - grow, rows.min() * sy - grow, (columns.max() + 1) * sx + grow, (rows.max() + 1) * sy + grow]
    crop = image.crop([int(max(box[0], 0)), int(max(box[1], 0)), int(min(box[2], image.width)), int(min(box[3], image.height))])
    width = max(64, int(48 * crop.width / crop.height))
    rec = Model("line-rec", "", "", "", named("x", lambda: normalised(crop, 48, width)))
    path = base / "ch_PP-OCRv4_rec_infer.onnx"
    scores = next(iter(run_ours(rec, path, work / "line-rec", runner).values()))[0, 0]
    meta = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"]).get_modelmeta().custom_metadata_map
    return ctc(scores, meta["character"].splitlines() + [" "]), ""


def run_ours(model, path, folder, runner):
    names = write_job(model, path, folder, model.inputs())
    subprocess.run([runner, str(folder)], check=True)
    outs = [o.name for o in ort.InferenceSession(str(path), providers=["CPUExecutionProvider"]).get_outputs()]
    return {n: np.load(folder / "out" / (names[n] + ".npy")) for n in outs}


def check(model, args):
    path = args.wheels / model.package / model.path
    if not path.exists():
        return f"{path.name} is missing", None
    if fault := digest_fault(model, path):
        return fault, None
    folder = args.work / re.sub(r"\W+", "-", model.name)
    inputs = model.inputs()
    names = write_job(model, path, folder, inputs)
    want, peer = run_peer(model, path, inputs)
    command = [args.runner] + (["-passes", args.passes] if args.passes else []) + [str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return " ".join(done.stderr.split()), None
    result = json.loads((folder / "result.json").read_text())
    worst, flips = judge(model, folder, names, want)
    return "", (worst, flips, peer, result)


def row(model, worst, flips, peer, r):
    return (f"{model.name:34} {r['onnx_nodes']:6} {r['nodes']:6} {r['import_seconds']:7.2f} {r['milliseconds']:9.2f} "
            f"{peer:9.2f} {model.steps:6} {worst:9.1e} {flips!s:>6}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wheels", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("runner")
    parser.add_argument("--passes", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--torch", action="store_true")
    args = parser.parse_args()
    ort.set_default_logger_severity(3)
    good = total = 0
    print(f"{'model':34} {'onnx':>6} {'nodes':>6} {'import':>7} {'run ms':>9} {'ORT ms':>9} {'steps':>6} {'error':>9} {'flips':>6}")
    for model in itertools.chain(models(), exported(args.wheels) if args.torch else ()):
        if not re.search(args.only, model.name):
            continue
        total += 1
        fault, figures = check(model, args)
        if fault:
            print(f"{model.name:34} FAIL: {fault}")
            continue
        print(row(model, *figures), flush=True)
        worst, flips, _, result = figures
        moved = {k: v for k, v in result.get("passes", {}).items() if not v <= PASS_LIMIT}
        if moved:
            print(f"{'':34} FAIL: without a pass the outputs move: {moved}")
        elif worst <= model.limit and flips == 0:
            good += 1
        else:
            print(f"{'':34} FAIL: over {model.limit} or another decision")
    if re.search(args.only, "line") and not args.passes:
        total += 1
        text, fault = read_line(args.wheels, args.work, args.runner)
        print(f"a rendered line is read as {text!r} {fault}")
        good += text.replace(" ", "") == LINE.replace(" ", "")
    print(f"models passed {good}/{total}")
    sys.exit(good != total)


if __name__ == "__main__":
    main()
