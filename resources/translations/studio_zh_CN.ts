<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>Actions</name>
    <message>
        <source>New script</source>
        <translation>新建脚本</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>打开…</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Save as…</source>
        <translation>另存为…</translation>
    </message>
    <message>
        <source>Update from file…</source>
        <translation>从文件更新…</translation>
    </message>
    <message>
        <source>Show what a new version of the imported file changes, and change only these lines</source>
        <translation>预览新版文件带来的变化，只修改有变化的台词</translation>
    </message>
    <message>
        <source>Last export…</source>
        <translation>上次导出…</translation>
    </message>
    <message>
        <source>Show the files of the last export with their verdicts, or its progress</source>
        <translation>显示上次导出的文件和质检结果，或正在进行的进度</translation>
    </message>
    <message>
        <source>Report of checks…</source>
        <translation>检查报告…</translation>
    </message>
    <message>
        <source>Save a table of all lines with their verdicts as HTML or CSV</source>
        <translation>将所有行及其检查结果保存为 HTML 或 CSV 表格</translation>
    </message>
    <message>
        <source>Models…</source>
        <translation>模型…</translation>
    </message>
    <message>
        <source>Engines…</source>
        <translation>引擎…</translation>
    </message>
    <message>
        <source>Serve voices…</source>
        <translation>音色服务…</translation>
    </message>
    <message>
        <source>Let other programs on this computer use your voices</source>
        <translation>让本机的其他程序使用音色库中的音色</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>设置…</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>重做</translation>
    </message>
    <message>
        <source>New line below</source>
        <translation>在下方新建一行</translation>
    </message>
    <message>
        <source>Paste as lines</source>
        <translation>粘贴为多行</translation>
    </message>
    <message>
        <source>Duplicate lines</source>
        <translation>创建副本</translation>
    </message>
    <message>
        <source>Remove lines</source>
        <translation>删除行</translation>
    </message>
    <message>
        <source>Merge lines</source>
        <translation>合并行</translation>
    </message>
    <message>
        <source>Move lines up</source>
        <translation>上移</translation>
    </message>
    <message>
        <source>Move lines down</source>
        <translation>下移</translation>
    </message>
    <message>
        <source>Lock line</source>
        <translation>锁定行</translation>
    </message>
    <message>
        <source>Find…</source>
        <translation>查找…</translation>
    </message>
    <message>
        <source>Replace…</source>
        <translation>替换…</translation>
    </message>
    <message>
        <source>Next line to review</source>
        <translation>下一个需试听的行</translation>
    </message>
    <message>
        <source>Go to the next line whose take has problems</source>
        <translation>转到下一条音频有问题的行</translation>
    </message>
    <message>
        <source>Previous line to review</source>
        <translation>上一个需试听的行</translation>
    </message>
    <message>
        <source>Show lines to review</source>
        <translation>只显示需试听的行</translation>
    </message>
    <message>
        <source>Show only lines whose take has problems, or all lines again</source>
        <translation>只显示音频有问题的行，或重新显示所有行</translation>
    </message>
    <message>
        <source>Select lines of this chapter</source>
        <translation>选择本章的所有行</translation>
    </message>
    <message>
        <source>Select the current chapter, or the scene of a heading, to speak or export it</source>
        <translation>选择当前章，或场标题所属的一场，以便生成或导出</translation>
    </message>
    <message>
        <source>Pronunciation…</source>
        <translation>读音…</translation>
    </message>
    <message>
        <source>Speak line</source>
        <translation>生成此行</translation>
    </message>
    <message>
        <source>Speak several takes</source>
        <translation>生成多条音频</translation>
    </message>
    <message>
        <source>Speak again</source>
        <translation>重新生成</translation>
    </message>
    <message>
        <source>Speak the selected lines again with another seed</source>
        <translation>用另一个种子重新生成所选行</translation>
    </message>
    <message>
        <source>Make drafts final</source>
        <translation>将草稿转为成品</translation>
    </message>
    <message>
        <source>Speak the drafts of the selected lines again exactly, with the same reading</source>
        <translation>以相同的读法精确重新生成所选行的草稿</translation>
    </message>
    <message>
        <source>Quality of this script…</source>
        <translation>此脚本的质量…</translation>
    </message>
    <message>
        <source>Choose between exact takes and faster drafts</source>
        <translation>选择精确的音频或更快的草稿</translation>
    </message>
    <message>
        <source>Check takes</source>
        <translation>检查音频</translation>
    </message>
    <message>
        <source>Checks of this script…</source>
        <translation>此脚本的检查设置…</translation>
    </message>
    <message>
        <source>Choose what is checked in this script, and when lines are spoken again</source>
        <translation>选择此脚本检查的内容，以及何时自动重新生成</translation>
    </message>
    <message>
        <source>Play from here</source>
        <translation>从此处播放</translation>
    </message>
    <message>
        <source>Play all lines from here, or those that the filter shows</source>
        <translation>从这里开始播放所有行，或筛选出的行</translation>
    </message>
    <message>
        <source>Play lines of this character</source>
        <translation>播放该角色的所有行</translation>
    </message>
    <message>
        <source>Play all lines of the current line&apos;s character</source>
        <translation>播放当前行角色的全部台词</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Previous take</source>
        <translation>上一条音频</translation>
    </message>
    <message>
        <source>Next take</source>
        <translation>下一条音频</translation>
    </message>
    <message>
        <source>Use recording as take…</source>
        <translation>使用录音…</translation>
    </message>
    <message>
        <source>Use a recording of this line as a take, in which words can be replaced</source>
        <translation>将真人录音用作这一行的音频，之后可以替换其中的词</translation>
    </message>
    <message>
        <source>Cut silence…</source>
        <translation>缩短停顿…</translation>
    </message>
    <message>
        <source>Shorten long pauses in the takes of the selected lines</source>
        <translation>缩短所选各行音频中过长的停顿</translation>
    </message>
    <message>
        <source>Choose best take</source>
        <translation>选用最佳的一条</translation>
    </message>
    <message>
        <source>Choose the take with the best check result</source>
        <translation>选用检查结果最好的音频</translation>
    </message>
    <message>
        <source>New voice from files…</source>
        <translation>从文件新建音色…</translation>
    </message>
    <message>
        <source>Live figures</source>
        <translation>实时数据</translation>
    </message>
    <message>
        <source>Show stage times, memory and concurrent lines</source>
        <translation>显示各阶段耗时、内存占用和同时生成的行数</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>时间轴</translation>
    </message>
    <message>
        <source>Show the slots of a dubbing on a time axis</source>
        <translation>在时间轴上显示配音的时段</translation>
    </message>
    <message>
        <source>Reset layout</source>
        <translation>重置布局</translation>
    </message>
    <message>
        <source>Open sample</source>
        <translation>打开示例</translation>
    </message>
    <message>
        <source>Open a short script with characters, styles, chapters and a dub</source>
        <translation>打开一个简短的示例脚本，包含角色、风格、章节和配音</translation>
    </message>
    <message>
        <source>Keyboard shortcuts…</source>
        <translation>键盘快捷键…</translation>
    </message>
    <message>
        <source>Diagnostics…</source>
        <translation>诊断…</translation>
    </message>
    <message>
        <source>About Timbre Studio</source>
        <translation>关于 Timbre Studio</translation>
    </message>
    <message>
        <source>{tip} ({keys})</source>
        <translation>{tip}（{keys}）</translation>
    </message>
    <message>
        <source>Export audio…</source>
        <translation>导出音频…</translation>
    </message>
    <message>
        <source>Install, verify and remove models</source>
        <translation>安装、检查和删除模型</translation>
    </message>
    <message>
        <source>Split line at cursor</source>
        <translation>在光标处拆分行</translation>
    </message>
    <message>
        <source>Protect the line from edits and new takes</source>
        <translation>防止此行被修改或重新生成</translation>
    </message>
    <message>
        <source>Fix mispronounced words</source>
        <translation>纠正读音</translation>
    </message>
    <message>
        <source>Speak the selected lines and play them while they are generated</source>
        <translation>生成所选的行，边生成边播放</translation>
    </message>
    <message>
        <source>Speak all changed lines</source>
        <translation>生成所有已更改的行</translation>
    </message>
    <message>
        <source>Speak every line without an up-to-date take</source>
        <translation>生成所有未生成或已更改的行</translation>
    </message>
    <message>
        <source>Speak several takes, each with a different seed (number in the settings)</source>
        <translation>用不同种子生成多条音频（数量见设置）</translation>
    </message>
    <message>
        <source>Convert a recording to the voice of the line</source>
        <translation>将录音转换为此行的音色</translation>
    </message>
    <message>
        <source>Pause queue</source>
        <translation>暂停队列</translation>
    </message>
    <message>
        <source>Cancel all</source>
        <translation>全部取消</translation>
    </message>
    <message>
        <source>Protect the take from being cleared</source>
        <translation>清理音频时不删除这条音频</translation>
    </message>
    <message>
        <source>Remove take</source>
        <translation>删除这条音频</translation>
    </message>
    <message>
        <source>Restore removed take</source>
        <translation>恢复已删除的音频</translation>
    </message>
    <message>
        <source>Restore the last take removed from this line</source>
        <translation>恢复此行最近删除的音频</translation>
    </message>
    <message>
        <source>Compare with previous take</source>
        <translation>与上一条音频比较</translation>
    </message>
    <message>
        <source>Compare takes…</source>
        <translation>比较音频…</translation>
    </message>
    <message>
        <source>Compare takes at equal loudness, optionally as a blind test</source>
        <translation>以相同响度比较音频，可盲听</translation>
    </message>
    <message>
        <source>Manual</source>
        <translation>使用手册</translation>
    </message>
    <message>
        <source>Check the installation and list problems</source>
        <translation>检查安装状态并列出问题</translation>
    </message>
    <message>
        <source>Convert recording…</source>
        <translation>转换录音…</translation>
    </message>
    <message>
        <source>Heading or note</source>
        <translation>标题或备注</translation>
    </message>
    <message>
        <source>Review</source>
        <translation>需试听</translation>
    </message>
    <message>
        <source>Assign voice {number}</source>
        <translation>指定音色 {number}</translation>
    </message>
    <message>
        <source>Record voice…</source>
        <translation>录制音色…</translation>
    </message>
    <message>
        <source>Show the engine of each stage and why it was chosen</source>
        <translation>各阶段使用的引擎及原因</translation>
    </message>
    <message>
        <source>Import…</source>
        <translation>导入…</translation>
    </message>
    <message>
        <source>Insert the lines of a text, table, document or subtitles</source>
        <translation>插入文本、表格、文档或字幕中的台词</translation>
    </message>
    <message>
        <source>Select lines of this character</source>
        <translation>选择该角色的所有行</translation>
    </message>
    <message>
        <source>Select all lines of the current line&apos;s character</source>
        <translation>选择与当前行同一角色的所有行</translation>
    </message>
    <message>
        <source>Select lines of this voice</source>
        <translation>选择该音色的所有行</translation>
    </message>
    <message>
        <source>Select all lines with the current line&apos;s voice</source>
        <translation>选择与当前行同一音色的所有行</translation>
    </message>
    <message>
        <source>Cast…</source>
        <translation>角色配音…</translation>
    </message>
    <message>
        <source>Choose the voice and style of each character</source>
        <translation>为每个角色选择音色和风格</translation>
    </message>
    <message>
        <source>Compact table</source>
        <translation>紧凑表格</translation>
    </message>
    <message>
        <source>Show the script as a table with one row per line</source>
        <translation>以表格显示脚本，每条台词占一行</translation>
    </message>
    <message>
        <source>Fit to slot</source>
        <translation>对齐字幕时长</translation>
    </message>
    <message>
        <source>Stretch the takes of the selected lines to their slots, within the limits</source>
        <translation>在限制范围内为所选各行的音频变速，以对齐字幕时长</translation>
    </message>
    <message>
        <source>Fit all to slots…</source>
        <translation>全部对齐字幕时长…</translation>
    </message>
    <message>
        <source>List the takes that are longer than their slots, and make them fit</source>
        <translation>列出超出时段的音频，并使其适配</translation>
    </message>
    <message>
        <source>Chapter heading</source>
        <translation>章标题</translation>
    </message>
    <message>
        <source>Make the selected lines chapter headings, or ordinary lines again</source>
        <translation>将所选行设为章标题，或还原为普通行</translation>
    </message>
    <message>
        <source>Scene heading</source>
        <translation>场景标题</translation>
    </message>
    <message>
        <source>Make the selected lines scene headings, or ordinary lines again</source>
        <translation>将所选行设为场景标题，或还原为普通行</translation>
    </message>
    <message>
        <source>Note, not spoken</source>
        <translation>备注（不生成语音）</translation>
    </message>
    <message>
        <source>Make the selected lines notes, or ordinary lines again</source>
        <translation>将所选行设为备注（不生成语音也不导出），或还原为普通行</translation>
    </message>
    <message>
        <source>Spoken text</source>
        <translation>台词文本</translation>
    </message>
    <message>
        <source>Make the selected headings and notes ordinary lines</source>
        <translation>将所选标题和备注设为普通行</translation>
    </message>
    <message>
        <source>Filter lines</source>
        <translation>筛选行</translation>
    </message>
    <message>
        <source>Show only lines with a text, voice, state, style or note</source>
        <translation>只显示符合文本、音色、状态、风格或备注条件的行</translation>
    </message>
    <message>
        <source>Next failed line</source>
        <translation>下一个失败行</translation>
    </message>
    <message>
        <source>Check the selected takes again</source>
        <translation>重新检查所选音频</translation>
    </message>
    <message>
        <source>Approve take</source>
        <translation>通过这条音频</translation>
    </message>
    <message>
        <source>Approve the takes of the selected lines despite their problems, and go to the next one</source>
        <translation>通过所选行有问题的音频，并转到下一行</translation>
    </message>
    <message>
        <source>Protect take</source>
        <translation>保护这条音频</translation>
    </message>
    <message>
        <source>Chapters and scenes…</source>
        <translation>章节列表…</translation>
    </message>
    <message>
        <source>Next chapter or scene</source>
        <translation>下一章或场景</translation>
    </message>
    <message>
        <source>Previous chapter or scene</source>
        <translation>上一章或场景</translation>
    </message>
    <message>
        <source>Cut lines</source>
        <translation>剪切行</translation>
    </message>
    <message>
        <source>Copy lines</source>
        <translation>复制行</translation>
    </message>
    <message>
        <source>Copy the selected lines, also for spreadsheets</source>
        <translation>复制所选行，也可粘贴到电子表格</translation>
    </message>
    <message>
        <source>Paste lines</source>
        <translation>粘贴行</translation>
    </message>
    <message>
        <source>Select all lines</source>
        <translation>全选行</translation>
    </message>
    <message>
        <source>Edit take…</source>
        <translation>编辑音频…</translation>
    </message>
    <message>
        <source>Trim the take, or speak a part of it again</source>
        <translation>裁剪这条音频，或重新生成其中一部分</translation>
    </message>
    <message>
        <source>Play or pause</source>
        <translation>播放或暂停</translation>
    </message>
    <message>
        <source>Previous line</source>
        <translation>上一行</translation>
    </message>
    <message>
        <source>Next line</source>
        <translation>下一行</translation>
    </message>
    <message>
        <source>Book details…</source>
        <translation>作品信息…</translation>
    </message>
    <message>
        <source>Title, author, narrator and cover of the work</source>
        <translation>作品的书名、作者、演播者和封面</translation>
    </message>
    <message>
        <source>Check audio levels…</source>
        <translation>检查音频电平…</translation>
    </message>
    <message>
        <source>Compare audio files with ACX or EBU R128</source>
        <translation>按 ACX 或 EBU R128 标准检查音频文件</translation>
    </message>
    <message>
        <source>Inspect audio files…</source>
        <translation>检查音频来源…</translation>
    </message>
    <message>
        <source>Show the signed manifest and the tags of audio files</source>
        <translation>查看音频文件的签名清单和标签</translation>
    </message>
    <message>
        <source>Assign speakers…</source>
        <translation>分配说话人…</translation>
    </message>
    <message>
        <source>Divide the dialogue of a novel into the lines of its characters</source>
        <translation>把小说的对话拆分为各角色的行</translation>
    </message>
    <message>
        <source>Consistency…</source>
        <translation>一致性…</translation>
    </message>
    <message>
        <source>Show how pace, pitch and level change over the script, and speak outliers again</source>
        <translation>查看语速、音高和电平在整个脚本中的变化，并重新生成偏离的行</translation>
    </message>
</context>
<context>
    <name>AudioDeviceNotifier</name>
    <message>
        <source>{sentence} Trying again.</source>
        <translation>{sentence}正在重试。</translation>
    </message>
    <message>
        <source>The output device {device} is not available. Playback continues on the system default.</source>
        <translation>音频设备“{device}”不可用，已改用系统默认设备继续播放。</translation>
    </message>
    <message>
        <source>Playback stopped: no output device is available. The take is kept.</source>
        <translation>播放已停止：没有可用的音频设备。已生成的音频会保留。</translation>
    </message>
    <message>
        <source>Playback stuttered; the buffer has been enlarged.</source>
        <translation>播放出现卡顿，已增大缓冲。</translation>
    </message>
</context>
<context>
    <name>BookDialog</name>
    <message>
        <source>Book details</source>
        <translation>作品信息</translation>
    </message>
    <message>
        <source>s</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>Cover</source>
        <translation>封面</translation>
    </message>
    <message>
        <source>Choose image…</source>
        <translation>选择图片…</translation>
    </message>
    <message>
        <source>Remove cover</source>
        <translation>移除封面</translation>
    </message>
    <message>
        <source>Title</source>
        <translation>书名</translation>
    </message>
    <message>
        <source>Author</source>
        <translation>作者</translation>
    </message>
    <message>
        <source>Narrator</source>
        <translation>演播者</translation>
    </message>
    <message>
        <source>Paragraph pause</source>
        <translation>段落间停顿</translation>
    </message>
    <message>
        <source>Exported files get these as tags. Audiobooks (M4B) also get the cover.</source>
        <translation>导出的文件会写入这些标签，有声书（M4B）还会包含封面。</translation>
    </message>
    <message>
        <source>Edit book details</source>
        <translation>编辑作品信息</translation>
    </message>
    <message>
        <source>Choose cover</source>
        <translation>选择封面</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>No cover</source>
        <translation>无封面</translation>
    </message>
</context>
<context>
    <name>BookSummary</name>
    <message>
        <source>Cover</source>
        <translation>封面</translation>
    </message>
    <message>
        <source>Book details…</source>
        <translation>作品信息…</translation>
    </message>
    <message>
        <source>Chapters</source>
        <translation>章节</translation>
    </message>
    <message>
        <source>Read by {narrator}</source>
        <translation>朗读：{narrator}</translation>
    </message>
    <message>
        <source>No narrator named</source>
        <translation>未填写朗读者</translation>
    </message>
    <message>
        <source>about {time}</source>
        <translation>约 {time}</translation>
    </message>
    <message numerus="yes">
        <source>%n chapter(s), {length}</source>
        <translation>
            <numerusform>%n 章，{length}</numerusform>
        </translation>
    </message>
    <message>
        <source>{title} ({time})</source>
        <translation>{title}（{time}）</translation>
    </message>
    <message>
        <source>No cover</source>
        <translation>无封面</translation>
    </message>
</context>
<context>
    <name>BundledVoices</name>
    <message>
        <source>A bright woman&apos;s voice, American.</source>
        <translation>明亮的女声，美式英语。</translation>
    </message>
    <message>
        <source>A light man&apos;s voice, slightly Scottish.</source>
        <translation>轻快的男声，略带苏格兰口音。</translation>
    </message>
    <message>
        <source>A woman&apos;s voice, mechanical.</source>
        <translation>机械感的女声。</translation>
    </message>
    <message>
        <source>A man&apos;s voice, mechanical.</source>
        <translation>机械感的男声。</translation>
    </message>
    <message>
        <source>A deep man&apos;s voice, American; the model never heard it in training.</source>
        <translation>低沉的男声，美式英语；模型训练时未使用过。</translation>
    </message>
</context>
<context>
    <name>CastDialog</name>
    <message>
        <source>Cast</source>
        <translation>角色配音</translation>
    </message>
    <message>
        <source>Keep as is</source>
        <translation>保持不变</translation>
    </message>
    <message>
        <source>Default</source>
        <translation>默认</translation>
    </message>
    <message>
        <source>Voice of {character}</source>
        <translation>{character} 的音色</translation>
    </message>
    <message>
        <source>Style of {character}</source>
        <translation>{character} 的风格</translation>
    </message>
    <message>
        <source>Play voice (F5)</source>
        <translation>试听音色（F5）</translation>
    </message>
    <message>
        <source>Play voice of {character}</source>
        <translation>试听 {character} 的音色</translation>
    </message>
    <message>
        <source>Character</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>Lines</source>
        <translation>台词数</translation>
    </message>
    <message>
        <source>Sample</source>
        <translation>示例</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>Style</source>
        <translation>风格</translation>
    </message>
    <message>
        <source>Choose a voice for each character. Lines with a style of their own keep it.</source>
        <translation>为每个角色选择音色。已设置风格的台词保持原风格。</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>应用</translation>
    </message>
    <message>
        <source>This script has no characters.

Import a script with names, such as a table with a character column or a dialogue like “Mira: Hello.”</source>
        <translation>此脚本中没有角色。

请导入带有角色名的脚本，例如含“角色”列的表格，或“小美：你好。”这样的对白。</translation>
    </message>
</context>
<context>
    <name>CastingController</name>
    <message>
        <source>Cast</source>
        <translation>角色配音</translation>
    </message>
    <message numerus="yes">
        <source>%n character(s) cast</source>
        <translation>
            <numerusform>已为 %n 个角色分配音色</numerusform>
        </translation>
    </message>
    <message>
        <source>Change speaker</source>
        <translation>更改说话人</translation>
    </message>
    <message>
        <source>Change voice</source>
        <translation>更换音色</translation>
    </message>
    <message>
        <source>This line has no character.</source>
        <translation>此行没有角色。</translation>
    </message>
    <message>
        <source>This line has no voice.</source>
        <translation>此行没有音色。</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) selected</source>
        <translation>
            <numerusform>已选择 %n 行</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CharactersPanel</name>
    <message>
        <source>Choose a voice</source>
        <translation>选择音色</translation>
    </message>
    <message>
        <source>Voice of the selected characters</source>
        <translation>所选角色的音色</translation>
    </message>
    <message>
        <source>Play lines</source>
        <translation>播放台词</translation>
    </message>
    <message>
        <source>Play all lines of the character (Space)</source>
        <translation>播放该角色的所有台词（空格）</translation>
    </message>
    <message>
        <source>Show lines</source>
        <translation>只看台词</translation>
    </message>
    <message>
        <source>Show only the lines of the character, or all lines again</source>
        <translation>只显示该角色的台词，或恢复显示全部</translation>
    </message>
    <message>
        <source>Select lines</source>
        <translation>选择台词</translation>
    </message>
    <message>
        <source>{character}, {voice}, lines: {count}</source>
        <translation>{character}，{voice}，{count} 行</translation>
    </message>
    <message>
        <source>No voice</source>
        <translation>无音色</translation>
    </message>
    <message>
        <source>Suggest voices</source>
        <translation>建议音色</translation>
    </message>
    <message>
        <source>Give each character without a voice one of the same gender</source>
        <translation>为没有音色的角色选择性别相同的音色</translation>
    </message>
</context>
<context>
    <name>ClipEditorDialog</name>
    <message>
        <source>New voice</source>
        <translation>新建音色</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>放大</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>缩小</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>显示全部</translation>
    </message>
    <message>
        <source>Recording with selection</source>
        <translation>录音与选区</translation>
    </message>
    <message>
        <source>Create voice</source>
        <translation>创建音色</translation>
    </message>
    <message>
        <source>Select the part to clone: three to ten seconds of one speaker, without music. The recording needs a sample rate of at least 16 kHz.</source>
        <translation>选区内的录音将用于克隆：请选取 3 到 10 秒的单人语音，不含音乐。录音采样率至少 16 kHz。</translation>
    </message>
    <message>
        <source>Suggest best part</source>
        <translation>推荐最佳片段</translation>
    </message>
    <message>
        <source>Zoom to selection</source>
        <translation>缩放到选区</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>检查结果</translation>
    </message>
    <message>
        <source>Play selection</source>
        <translation>播放选区</translation>
    </message>
</context>
<context>
    <name>ClipRepairController</name>
    <message>
        <source>{name} repaired</source>
        <translation>{name}（已修复）</translation>
    </message>
    <message>
        <source>{name} was added.</source>
        <translation>已添加 {name}。</translation>
    </message>
</context>
<context>
    <name>ClipRepairDialog</name>
    <message>
        <source>Repair {name}</source>
        <translation>修复 {name}</translation>
    </message>
    <message>
        <source>Examining the recording…</source>
        <translation>正在分析录音…</translation>
    </message>
    <message>
        <source>&amp;Speaker</source>
        <translation>说话人(&amp;S)</translation>
    </message>
    <message>
        <source>Hide names and scores</source>
        <translation>隐藏名称和分数</translation>
    </message>
    <message>
        <source>Add repaired voice</source>
        <translation>添加修复后的音色</translation>
    </message>
    <message>
        <source>Speaker {number}: {seconds:.0f} s</source>
        <translation>说话人 {number}：{seconds:.0f} 秒</translation>
    </message>
    <message>
        <source>Speaking test sentences: {number} of {total}</source>
        <translation>正在试读：第 {number} 句，共 {total} 句</translation>
    </message>
    <message>
        <source>The recording has no fault that can be repaired.</source>
        <translation>录音没有可修复的问题。</translation>
    </message>
    <message>
        <source>No candidate sounds better. The voice can stay as it is.</source>
        <translation>没有效果更好的候选片段，无需改动此音色。</translation>
    </message>
    <message>
        <source>The chosen candidate sounds more like the speaker. The original voice is kept.</source>
        <translation>所选片段读出的语音更像说话人。原音色会保留。</translation>
    </message>
    <message>
        <source>Candidate {letter}</source>
        <translation>候选 {letter}</translation>
    </message>
    <message>
        <source>Play clip of {name}</source>
        <translation>播放片段：{name}</translation>
    </message>
    <message>
        <source>Play sentence {number} of {name}</source>
        <translation>播放第 {number} 句：{name}</translation>
    </message>
    <message>
        <source>As it is</source>
        <translation>原录音</translation>
    </message>
    <message>
        <source>Cleaned: {steps}</source>
        <translation>已处理：{steps}</translation>
    </message>
    <message>
        <source>Passage from {start:.1f} to {end:.1f} s</source>
        <translation>片段：{start:.1f} 至 {end:.1f} 秒</translation>
    </message>
    <message>
        <source>Similarity unknown</source>
        <translation>相似度未知</translation>
    </message>
    <message>
        <source>Similarity {similarity:.2f}</source>
        <translation>相似度 {similarity:.2f}</translation>
    </message>
    <message>
        <source>{similarity}, sentences with problems: {count}</source>
        <translation>{similarity}，有问题的句子：{count}</translation>
    </message>
    <message>
        <source>clipping</source>
        <translation>削波</translation>
    </message>
    <message>
        <source>DC offset</source>
        <translation>直流偏移</translation>
    </message>
    <message>
        <source>hum</source>
        <translation>嗡嗡声</translation>
    </message>
    <message>
        <source>reverberation</source>
        <translation>混响</translation>
    </message>
    <message>
        <source>noise</source>
        <translation>噪声</translation>
    </message>
    <message>
        <source>level</source>
        <translation>音量</translation>
    </message>
</context>
<context>
    <name>ClipReport</name>
    <message>
        <source>Good</source>
        <translation>良好</translation>
    </message>
    <message>
        <source>Fair</source>
        <translation>一般</translation>
    </message>
    <message>
        <source>Poor</source>
        <translation>较差</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>时长</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>音量</translation>
    </message>
    <message>
        <source>Distortion</source>
        <translation>失真</translation>
    </message>
    <message>
        <source>Noise</source>
        <translation>噪声</translation>
    </message>
    <message>
        <source>Clarity</source>
        <translation>清晰度</translation>
    </message>
    <message>
        <source>Pauses</source>
        <translation>停顿</translation>
    </message>
</context>
<context>
    <name>ClipReportView</name>
    <message>
        <source>{grade}: {finding}</source>
        <translation>{grade}：{finding}</translation>
    </message>
</context>
<context>
    <name>CollapsiblePanel</name>
    <message>
        <source>More…</source>
        <translation>更多…</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
</context>
<context>
    <name>ColumnTable</name>
    <message>
        <source>Not used</source>
        <translation>不使用</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>ID</source>
        <translation>编号</translation>
    </message>
    <message>
        <source>Character</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>Style</source>
        <translation>风格</translation>
    </message>
    <message>
        <source>File name</source>
        <translation>文件名</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>语速</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>停顿</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Chapter</source>
        <translation>章</translation>
    </message>
    <message>
        <source>Scene</source>
        <translation>场景</translation>
    </message>
    <message>
        <source>Columns</source>
        <translation>列</translation>
    </message>
    <message>
        <source>Meaning of the column {name}</source>
        <translation>“{name}”列的含义</translation>
    </message>
</context>
<context>
    <name>CompareDialog</name>
    <message>
        <source>Next (X)</source>
        <translation>下一个（X）</translation>
    </message>
    <message>
        <source>Reading the takes…</source>
        <translation>正在读取各条音频…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Compare takes</source>
        <translation>比较音频</translation>
    </message>
    <message>
        <source>Take {number}</source>
        <translation>第 {number} 条</translation>
    </message>
    <message>
        <source>(chosen)</source>
        <translation>（已选用）</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>已保留</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>seed {seed}</source>
        <translation>种子 {seed}</translation>
    </message>
    <message>
        <source>{seconds:.1f} s</source>
        <translation>{seconds:.1f} 秒</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>播放</translation>
    </message>
    <message>
        <source>Comparing {shown} of {count} takes of this line</source>
        <translation>正在比较此行的 {shown} 条音频（共 {count} 条）</translation>
    </message>
    <message>
        <source>Loudness matched (loudest take {difference})</source>
        <translation>响度已匹配（最响的一条 {difference}）</translation>
    </message>
    <message>
        <source>{letter} is take {number}. The line is locked and keeps its take.</source>
        <translation>{letter} 是第 {number} 条。此行已锁定，仍使用原来的音频。</translation>
    </message>
    <message>
        <source>Play all (R)</source>
        <translation>依次播放（R）</translation>
    </message>
    <message>
        <source>Blind test</source>
        <translation>盲听</translation>
    </message>
    <message>
        <source>Choose this take</source>
        <translation>选用这条音频</translation>
    </message>
    <message>
        <source>{letters}: switch to that take at the same position. X: next. Space: play or stop. R: play all. Enter: choose.</source>
        <translation>{letters}：在相同位置切换到该条音频。X：下一个。空格：播放或停止。R：依次播放。回车：选用。</translation>
    </message>
    <message>
        <source>Playback position</source>
        <translation>播放位置</translation>
    </message>
    <message>
        <source>Use the current take for the line (can be undone)</source>
        <translation>将当前这条用于此行（可撤销）</translation>
    </message>
    <message>
        <source>Hides which take is which until you choose one</source>
        <translation>选用前隐藏编号</translation>
    </message>
    <message>
        <source>playing</source>
        <translation>正在播放</translation>
    </message>
    <message>
        <source>played</source>
        <translation>已播放</translation>
    </message>
    <message>
        <source>not played yet</source>
        <translation>未播放</translation>
    </message>
    <message>
        <source>Choose {letter}</source>
        <translation>选用 {letter}</translation>
    </message>
    <message>
        <source>All takes are equally loud</source>
        <translation>各条音频响度一致</translation>
    </message>
    <message>
        <source>{letter} is take {number}, which is already chosen.</source>
        <translation>{letter} 是第 {number} 条，正是当前选用的音频。</translation>
    </message>
    <message>
        <source>{letter} is take {number}. The line uses it now.</source>
        <translation>{letter} 是第 {number} 条，已选用。</translation>
    </message>
</context>
<context>
    <name>ConsistencyDialog</name>
    <message>
        <source>Consistency</source>
        <translation>一致性</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>Check new takes against the targets</source>
        <translation>按目标检查新音频</translation>
    </message>
    <message>
        <source>Takes outside the targets are marked, and spoken again like other faulty takes</source>
        <translation>超出目标的音频会被标记，并像其他有问题的音频一样重新生成</translation>
    </message>
    <message>
        <source>Selected lines as example</source>
        <translation>以所选行为准</translation>
    </message>
    <message>
        <source>Set the targets to the takes of the lines selected in the script</source>
        <translation>以脚本中所选行的音频作为目标</translation>
    </message>
    <message>
        <source>Measure takes</source>
        <translation>测量音频</translation>
    </message>
    <message>
        <source>Next outlier</source>
        <translation>下一个偏离的行</translation>
    </message>
    <message>
        <source>Speak outliers again</source>
        <translation>重新生成偏离的行</translation>
    </message>
    <message>
        <source>Each dot is a line, the band its target, and the curve the median. Diamonds are outliers.</source>
        <translation>每个点是一行，色带是目标范围，曲线是中位数，菱形是偏离的行。</translation>
    </message>
    <message>
        <source>All voices</source>
        <translation>全部音色</translation>
    </message>
    <message>
        <source>{count} of {total} lines differ from their targets.</source>
        <translation>{total} 行中有 {count} 行偏离目标。</translation>
    </message>
    <message>
        <source>No line has a measured take.</source>
        <translation>还没有测量过的音频。</translation>
    </message>
    <message numerus="yes">
        <source>%n heading(s) are left out.</source>
        <translation>
            <numerusform>%n 个标题不参与比较。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Checking %n take(s).</source>
        <translation>
            <numerusform>正在检查 %n 条音频。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n take(s) have not been measured.</source>
        <translation>
            <numerusform>%n 条音频尚未测量。</numerusform>
        </translation>
    </message>
    <message>
        <source>Checks of takes are off in the settings</source>
        <translation>设置中已关闭音频质检</translation>
    </message>
    <message>
        <source>Set targets</source>
        <translation>设置目标</translation>
    </message>
</context>
<context>
    <name>ContentsTree</name>
    <message>
        <source>Contents</source>
        <translation>目录</translation>
    </message>
</context>
<context>
    <name>CopyReportButton</name>
    <message>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <source>Copying…</source>
        <translation>正在复制…</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
    <message>
        <source>For a bug report; contains no texts, voices or personal data</source>
        <translation>用于反馈问题；不含文本、音色或个人信息</translation>
    </message>
</context>
<context>
    <name>DeferredParts</name>
    <message>
        <source>Voices and characters</source>
        <translation>音色和角色</translation>
    </message>
    <message>
        <source>Voices</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>Characters</source>
        <translation>角色</translation>
    </message>
</context>
<context>
    <name>DetailsForm</name>
    <message>
        <source>Voice name</source>
        <translation>音色名称</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation>名称(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Language</source>
        <translation>语言(&amp;L)</translation>
    </message>
    <message>
        <source>N&amp;otes</source>
        <translation>备注(&amp;O)</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Voice owner has consented</source>
        <translation>已获声音所有者授权</translation>
    </message>
    <message>
        <source>Only clone voices you have permission to use. This note is stored with the voice.</source>
        <translation>请仅克隆已获授权的声音。授权信息会随音色保存。</translation>
    </message>
    <message>
        <source>&amp;Transcript</source>
        <translation>参考文本(&amp;T)</translation>
    </message>
    <message>
        <source>Spoken</source>
        <translation>口头授权</translation>
    </message>
    <message>
        <source>Exact transcript of the selection</source>
        <translation>选区内录音的逐字内容</translation>
    </message>
    <message>
        <source>Transcript</source>
        <translation>参考文本</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>Consent given by</source>
        <translation>授权人</translation>
    </message>
    <message>
        <source>Permitted use</source>
        <translation>授权用途</translation>
    </message>
    <message>
        <source>For example: one audiobook</source>
        <translation>例如：一本有声书</translation>
    </message>
    <message>
        <source>Date of consent</source>
        <translation>授权日期</translation>
    </message>
    <message>
        <source>Given by</source>
        <translation>授权人</translation>
    </message>
    <message>
        <source>Date</source>
        <translation>日期</translation>
    </message>
    <message>
        <source>Clip and transcript together give the best likeness. The transcript must match the selection.</source>
        <translation>参考音频配合参考文本，相似度最高。文本须与选区内容一致。</translation>
    </message>
    <message>
        <source>The voice is cloned from the audio alone. Add a transcript at any time for a closer likeness.</source>
        <translation>仅凭参考音频克隆。填写参考文本可提高相似度，可随时补填。</translation>
    </message>
    <message>
        <source>No limit; a date such as 2030-12-31</source>
        <translation>长期有效，或填写日期，如 2030-12-31</translation>
    </message>
    <message>
        <source>Last day of consent</source>
        <translation>授权截止日期</translation>
    </message>
    <message>
        <source>Until</source>
        <translation>有效期至</translation>
    </message>
    <message>
        <source>Optional, with tags such as #narrator</source>
        <translation>可不填，可含标签，如 #旁白</translation>
    </message>
</context>
<context>
    <name>DiagnosticsDialog</name>
    <message>
        <source>Diagnostics</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>Component</source>
        <translation>检查项</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message numerus="yes">
        <source>Speech works. %n item(s) can be improved.</source>
        <translation>
            <numerusform>可以正常生成语音，有 %n 项可改进。</numerusform>
        </translation>
    </message>
    <message>
        <source>Checking</source>
        <translation>正在检查</translation>
    </message>
    <message>
        <source>Results</source>
        <translation>检查结果</translation>
    </message>
    <message>
        <source>Result and remedy</source>
        <translation>结果与建议</translation>
    </message>
    <message>
        <source>For a bug report; contains no texts, voices or personal data</source>
        <translation>用于反馈问题，不含文本、音色和个人信息</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>重新检查</translation>
    </message>
    <message>
        <source>Error reference…</source>
        <translation>错误说明…</translation>
    </message>
    <message>
        <source>Checking everything the program needs…</source>
        <translation>正在检查运行环境…</translation>
    </message>
    <message>
        <source>Speech does not work until the marked problems are fixed.</source>
        <translation>请先解决标出的问题，否则无法生成。</translation>
    </message>
    <message>
        <source>Everything works.</source>
        <translation>一切正常。</translation>
    </message>
    <message>
        <source>OK</source>
        <translation>正常</translation>
    </message>
    <message>
        <source>Limited</source>
        <translation>受限</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Not installed</source>
        <translation>未安装</translation>
    </message>
</context>
<context>
    <name>Dialogs</name>
    <message>
        <source>Shortcuts</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>Reads texts aloud in any voice, on your own computer.</source>
        <translation>在您自己的电脑上，用任意音色朗读文本。</translation>
    </message>
    <message>
        <source>Licence: {licence}. Models and libraries have their own licences.</source>
        <translation>许可证：{licence}。模型和第三方库各有其许可证。</translation>
    </message>
    <message>
        <source>Models: {models}. Window: {qt}, under the LGPL.</source>
        <translation>模型：{models}。界面：{qt}，依据 LGPL 许可。</translation>
    </message>
    <message>
        <source>About Timbre Studio</source>
        <translation>关于 Timbre Studio</translation>
    </message>
</context>
<context>
    <name>DictionaryDialog</name>
    <message>
        <source>Pronunciation</source>
        <translation>读音</translation>
    </message>
    <message>
        <source>Script dictionary</source>
        <translation>脚本词典</translation>
    </message>
    <message>
        <source>This script</source>
        <translation>此脚本</translation>
    </message>
    <message>
        <source>All scripts</source>
        <translation>所有脚本</translation>
    </message>
    <message>
        <source>Shared dictionary</source>
        <translation>通用词典</translation>
    </message>
</context>
<context>
    <name>Documents</name>
    <message>
        <source>Untitled</source>
        <translation>未命名</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>Timbre scripts (*{suffix})</source>
        <translation>Timbre 脚本 (*{suffix})</translation>
    </message>
    <message>
        <source>Texts and tables ({patterns})</source>
        <translation>文本和表格 ({patterns})</translation>
    </message>
    <message>
        <source>Opening {name}</source>
        <translation>正在打开 {name}</translation>
    </message>
    <message>
        <source>Reading {name}</source>
        <translation>正在读取 {name}</translation>
    </message>
    <message>
        <source>Recovering</source>
        <translation>正在恢复</translation>
    </message>
    <message>
        <source>Saving</source>
        <translation>正在保存</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Save elsewhere…</source>
        <translation>保存到其他位置…</translation>
    </message>
    <message>
        <source>Save script</source>
        <translation>保存脚本</translation>
    </message>
    <message>
        <source>Save changes to “{name}”?</source>
        <translation>是否保存对“{name}”的更改？</translation>
    </message>
    <message>
        <source>Unsaved changes will be lost.</source>
        <translation>未保存的更改将会丢失。</translation>
    </message>
    <message>
        <source>Don&apos;t save</source>
        <translation>不保存</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>替换</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>导入</translation>
    </message>
    <message>
        <source>Scripts and texts ({patterns})</source>
        <translation>脚本和文本 ({patterns})</translation>
    </message>
    <message>
        <source>Stop the running export?</source>
        <translation>要停止正在进行的导出吗？</translation>
    </message>
    <message>
        <source>Finished files are kept; the next export continues from there.</source>
        <translation>已完成的文件会保留，下次导出将从中断处继续。</translation>
    </message>
    <message>
        <source>Stop export</source>
        <translation>停止导出</translation>
    </message>
</context>
<context>
    <name>DotChart</name>
    <message>
        <source>Chart of the measures</source>
        <translation>测量值图表</translation>
    </message>
    <message>
        <source>Pace</source>
        <translation>语速</translation>
    </message>
    <message>
        <source>Pitch</source>
        <translation>音高</translation>
    </message>
    <message>
        <source>Pitch range</source>
        <translation>音高范围</translation>
    </message>
    <message>
        <source>Level</source>
        <translation>电平</translation>
    </message>
    <message>
        <source>Similarity</source>
        <translation>相似度</translation>
    </message>
    <message>
        <source>Pauses</source>
        <translation>停顿</translation>
    </message>
    <message>
        <source>{value:.1f} syllables/s</source>
        <translation>{value:.1f} 音节/秒</translation>
    </message>
    <message>
        <source>{value:.0f} Hz</source>
        <translation>{value:.0f} Hz</translation>
    </message>
    <message>
        <source>{value:.1f} semitones</source>
        <translation>{value:.1f} 半音</translation>
    </message>
    <message>
        <source>{value:.1f} dB</source>
        <translation>{value:.1f} dB</translation>
    </message>
    <message>
        <source>{value:.2f} s</source>
        <translation>{value:.2f} 秒</translation>
    </message>
    <message>
        <source>{value} (too high)</source>
        <translation>{value}（偏高）</translation>
    </message>
    <message>
        <source>{value} (too low)</source>
        <translation>{value}（偏低）</translation>
    </message>
    <message>
        <source>Line {number}, {voice}: {values}</source>
        <translation>第 {number} 行，{voice}：{values}</translation>
    </message>
</context>
<context>
    <name>DraftsController</name>
    <message>
        <source>The selected lines have no draft that can be made final.</source>
        <translation>所选行没有可以转为成品的草稿。</translation>
    </message>
</context>
<context>
    <name>DraggingView</name>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation>
            <numerusform>%n 行</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DropHandler</name>
    <message>
        <source>Drop to open the script</source>
        <translation>松开即可打开脚本</translation>
    </message>
    <message>
        <source>Drop to import as lines</source>
        <translation>松开即可导入为多行</translation>
    </message>
    <message>
        <source>This line has no voice</source>
        <translation>此行未选择音色</translation>
    </message>
    <message>
        <source>Drop to convert {name} to the voice {voice}</source>
        <translation>松开即可将 {name} 转换为音色“{voice}”</translation>
    </message>
    <message>
        <source>Drop to convert these files to the voice {voice}</source>
        <translation>松开即可将这些文件转换为音色“{voice}”</translation>
    </message>
    <message>
        <source>Drop to create a voice from {name} for line {number}</source>
        <translation>松开即可用 {name} 为第 {number} 行创建音色</translation>
    </message>
    <message>
        <source>With Ctrl: convert to the voice {voice}</source>
        <translation>按住 Ctrl：转换为音色“{voice}”</translation>
    </message>
    <message>
        <source>Drop to use {name} as guide track</source>
        <translation>松开即可将 {name} 用作参考音轨</translation>
    </message>
</context>
<context>
    <name>DropOverlay</name>
    <message>
        <source>Drop files here</source>
        <translation>将文件拖放到此处</translation>
    </message>
</context>
<context>
    <name>DubbingController</name>
    <message>
        <source>The selected lines have no take with a slot.</source>
        <translation>所选行中没有带时段的音频。</translation>
    </message>
    <message>
        <source>Change slot</source>
        <translation>修改时段</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) fitted.</source>
        <translation>
            <numerusform>已适配 %n 行。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) remain too long; they are marked.</source>
        <translation>
            <numerusform>仍有 %n 行过长，已标记。</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose guide track</source>
        <translation>选择参考音轨</translation>
    </message>
    <message>
        <source>Remove guide track</source>
        <translation>移除参考音轨</translation>
    </message>
</context>
<context>
    <name>EditDialog</name>
    <message>
        <source>Details of {name}</source>
        <translation>{name} 的详细信息</translation>
    </message>
</context>
<context>
    <name>EngineTuningPanel</name>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Optimising for this computer</source>
        <translation>正在针对本机优化</translation>
    </message>
    <message>
        <source>Resumes at the next start, unless disabled in the settings</source>
        <translation>下次启动时自动继续，可在设置中关闭</translation>
    </message>
    <message>
        <source>You can keep working</source>
        <translation>不影响继续使用</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
</context>
<context>
    <name>Engines</name>
    <message>
        <source>Speech tokenizer</source>
        <translation>语音分词器</translation>
    </message>
    <message>
        <source>Speaker encoder</source>
        <translation>说话人编码器</translation>
    </message>
    <message>
        <source>Language model</source>
        <translation>语言模型</translation>
    </message>
    <message>
        <source>Flow</source>
        <translation>流匹配</translation>
    </message>
    <message>
        <source>Vocoder</source>
        <translation>声码器</translation>
    </message>
    <message>
        <source>Not tested</source>
        <translation>未测试</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Measuring speed</source>
        <translation>正在测量速度</translation>
    </message>
    <message>
        <source>Building the engine</source>
        <translation>正在构建引擎</translation>
    </message>
    <message>
        <source>Calibrating on speech</source>
        <translation>正在用语音样本校准</translation>
    </message>
    <message>
        <source>Exporting weights for vLLM</source>
        <translation>正在为 vLLM 写入权重</translation>
    </message>
    <message>
        <source>Reference</source>
        <translation>基准</translation>
    </message>
    <message>
        <source>{name}, {memory}, driver {driver}</source>
        <translation>{name}，{memory}，驱动 {driver}</translation>
    </message>
    <message>
        <source>differs by {error}</source>
        <translation>误差 {error}</translation>
    </message>
    <message>
        <source>other programs kept the computer busy; measured again later</source>
        <translation>测量时电脑繁忙，稍后自动重测</translation>
    </message>
    <message>
        <source>about {time} left</source>
        <translation>还需约 {time}</translation>
    </message>
    <message>
        <source>today</source>
        <translation>今天</translation>
    </message>
    <message>
        <source>yesterday</source>
        <translation>昨天</translation>
    </message>
    <message>
        <source>{count} days ago</source>
        <translation>{count} 天前</translation>
    </message>
    <message>
        <source>Recording the float32 reference</source>
        <translation>正在生成 float32 基准</translation>
    </message>
    <message>
        <source>Exporting the network</source>
        <translation>正在导出网络</translation>
    </message>
    <message>
        <source>{name}, {threads} threads, {memory}; no GPU in use</source>
        <translation>{name}，{threads} 线程，{memory}；未使用显卡</translation>
    </message>
    <message>
        <source>{seconds} s per second of audio</source>
        <translation>每秒音频耗时 {seconds} 秒</translation>
    </message>
    <message>
        <source>{factor}x the speed of float32</source>
        <translation>速度为 float32 的 {factor} 倍</translation>
    </message>
    <message>
        <source>reference</source>
        <translation>基准</translation>
    </message>
    <message>
        <source>{share} of tokens equal</source>
        <translation>{share} 的 token 一致</translation>
    </message>
    <message>
        <source>no build needed, measured {ago}</source>
        <translation>无需构建，{ago}测量</translation>
    </message>
    <message>
        <source>{size} on disk, built {ago}</source>
        <translation>占用磁盘 {size}，{ago}构建</translation>
    </message>
    <message>
        <source>({index}/{total}) {stage}, {name}</source>
        <translation>({index}/{total}) {stage}，{name}</translation>
    </message>
    <message>
        <source>Optimising for {place}: {index} of {total}</source>
        <translation>正在针对 {place} 优化（{index}/{total}）</translation>
    </message>
    <message>
        <source>{used} on disk, limit {limit}</source>
        <translation>占用磁盘 {used}，上限 {limit}</translation>
    </message>
    <message>
        <source>Verified</source>
        <translation>已验证</translation>
    </message>
    <message>
        <source>Testing</source>
        <translation>正在测试</translation>
    </message>
    <message>
        <source>Not available</source>
        <translation>不可用</translation>
    </message>
    <message>
        <source>Rejected</source>
        <translation>未通过</translation>
    </message>
    <message>
        <source>Paused after failures</source>
        <translation>多次失败，已暂停</translation>
    </message>
    <message>
        <source>Not enough memory or storage</source>
        <translation>内存或磁盘空间不足</translation>
    </message>
    <message>
        <source>Testing in another window</source>
        <translation>正在其他窗口中测试</translation>
    </message>
    <message>
        <source>content of a new voice, once</source>
        <translation>提取新音色的语音内容，仅一次</translation>
    </message>
    <message>
        <source>timbre of a new voice, once</source>
        <translation>提取新音色的音色特征，仅一次</translation>
    </message>
    <message>
        <source>text to speech tokens</source>
        <translation>文本转语音 token</translation>
    </message>
    <message>
        <source>speech tokens to spectrogram</source>
        <translation>语音 token 转频谱</translation>
    </message>
    <message>
        <source>spectrogram to audio</source>
        <translation>频谱转音频</translation>
    </message>
    <message>
        <source>Comparing with float32</source>
        <translation>正在与 float32 比较</translation>
    </message>
    <message>
        <source>Optimising paused</source>
        <translation>优化已暂停</translation>
    </message>
    <message>
        <source>Optimising {index} of {total}</source>
        <translation>正在优化 {index}/{total}</translation>
    </message>
    <message>
        <source>not measured</source>
        <translation>尚未测速</translation>
    </message>
    <message>
        <source>used before a comparison with float32</source>
        <translation>使用中，尚未与 float32 比对</translation>
    </message>
</context>
<context>
    <name>EnginesPage</name>
    <message>
        <source>Engines</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>A faster engine is used only if its output matches float32 closely enough on this computer and with this model. The fastest one that passes is used. Until then, the model runs in the precision in which it was loaded.</source>
        <translation>只有在本机用此模型比对、输出足够接近 float32 的引擎才会启用，并选用其中最快的一个。在此之前，模型以加载时的精度运行。</translation>
    </message>
    <message>
        <source>Find faster engines</source>
        <translation>寻找更快的引擎</translation>
    </message>
    <message>
        <source>Verify again</source>
        <translation>重新验证</translation>
    </message>
    <message>
        <source>Compares and measures the verified engines again, without rebuilding them</source>
        <translation>重新比较并测量已验证的引擎，不重新构建</translation>
    </message>
    <message>
        <source>Rebuild all…</source>
        <translation>全部重新构建…</translation>
    </message>
    <message>
        <source>Rebuild all engines</source>
        <translation>重新构建所有引擎</translation>
    </message>
    <message>
        <source>All engines built for this model are deleted, then built and measured again. Until then the reference engines are used.</source>
        <translation>将删除为该模型构建的所有引擎，然后重新构建和测量。在此期间使用基准引擎。</translation>
    </message>
    <message>
        <source>The engines of a model are shown when it is loaded.</source>
        <translation>模型加载后，这里显示各阶段的引擎。</translation>
    </message>
</context>
<context>
    <name>ErrorCodesDialog</name>
    <message>
        <source>Error reference</source>
        <translation>错误说明</translation>
    </message>
    <message>
        <source>Search codes and words</source>
        <translation>搜索代码或文字</translation>
    </message>
    <message>
        <source>Error codes</source>
        <translation>错误代码</translation>
    </message>
</context>
<context>
    <name>Errors</name>
    <message>
        <source> Did you mean {names}?</source>
        <translation>是否是指 {names}？</translation>
    </message>
    <message>
        <source> Log: {path}</source>
        <translation>日志：{path}</translation>
    </message>
    <message>
        <source>A first hop of {hop} tokens does not end on the grid of this voice.</source>
        <translation>首块为 {hop} 个 token，与此音色的分块边界不对齐。</translation>
    </message>
    <message>
        <source>A part of the program cannot be loaded: {reason}.</source>
        <translation>程序组件无法加载：{reason}。</translation>
    </message>
    <message>
        <source>A speed of {speed:g} is not possible.</source>
        <translation>语速不能设为 {speed:g}。</translation>
    </message>
    <message>
        <source>Add it again from its recording.</source>
        <translation>请用录音重新添加。</translation>
    </message>
    <message>
        <source>Build the engine again.</source>
        <translation>请重新构建引擎。</translation>
    </message>
    <message>
        <source>Change the permissions of the file, or copy it.</source>
        <translation>请修改文件权限，或复制一份。</translation>
    </message>
    <message>
        <source>Check its name and folder.</source>
        <translation>请检查名称和所在文件夹。</translation>
    </message>
    <message>
        <source>Check its permissions.</source>
        <translation>请检查权限。</translation>
    </message>
    <message>
        <source>Check the path and that the file may be read.</source>
        <translation>请检查路径是否正确、文件是否可读。</translation>
    </message>
    <message>
        <source>Check the permissions of its folder, or choose another.</source>
        <translation>请检查文件夹的权限，或选择其他文件夹。</translation>
    </message>
    <message>
        <source>Check the permissions of its folder.</source>
        <translation>请检查文件夹的权限。</translation>
    </message>
    <message>
        <source>Check the permissions of the folder.</source>
        <translation>请检查文件夹的权限。</translation>
    </message>
    <message>
        <source>Check the permissions of {folder}.</source>
        <translation>请检查 {folder} 的权限。</translation>
    </message>
    <message>
        <source>Check the spelling of its name and folder.</source>
        <translation>请检查名称和文件夹的拼写。</translation>
    </message>
    <message>
        <source>Choose -20 to 0; -1 is usual.</source>
        <translation>请选择 -20 到 0；通常为 -1。</translation>
    </message>
    <message>
        <source>Choose 0 to {longest:g}.</source>
        <translation>请选择 0 到 {longest:g}。</translation>
    </message>
    <message>
        <source>Choose CosyVoice2-0.5B or Fun-CosyVoice3-0.5B-2512.</source>
        <translation>请选择 CosyVoice2-0.5B 或 Fun-CosyVoice3-0.5B-2512。</translation>
    </message>
    <message>
        <source>Choose a .timbre file.</source>
        <translation>请选择一个 .timbre 文件。</translation>
    </message>
    <message>
        <source>Choose a file in it.</source>
        <translation>请选择其中的文件。</translation>
    </message>
    <message>
        <source>Choose a longer recording.</source>
        <translation>请选择更长的录音。</translation>
    </message>
    <message>
        <source>Choose a name that ends in one of {known}.</source>
        <translation>请选择以下列之一结尾的名称：{known}。</translation>
    </message>
    <message>
        <source>Choose another engine.</source>
        <translation>请选择其他引擎。</translation>
    </message>
    <message>
        <source>Choose another file.</source>
        <translation>请选择其他文件。</translation>
    </message>
    <message>
        <source>Choose another folder.</source>
        <translation>请选择其他文件夹。</translation>
    </message>
    <message>
        <source>Choose another name.</source>
        <translation>请换一个名称。</translation>
    </message>
    <message>
        <source>Choose another source (Settings, Models), or import the model from a folder.</source>
        <translation>请更换下载源（设置 › 模型），或从文件夹导入模型。</translation>
    </message>
    <message>
        <source>Choose another source (Settings, Models), or update the program.</source>
        <translation>请更换下载源（设置 › 模型），或更新本程序。</translation>
    </message>
    <message>
        <source>Choose another source (Settings, Models).</source>
        <translation>请更换下载源（设置 › 模型）。</translation>
    </message>
    <message>
        <source>Choose another source or address (Settings, Models).</source>
        <translation>请更换下载源或地址（设置 › 模型）。</translation>
    </message>
    <message>
        <source>Choose another voice.</source>
        <translation>请选择其他音色。</translation>
    </message>
    <message>
        <source>Choose float32 for the flow.</source>
        <translation>流匹配请选择 float32。</translation>
    </message>
    <message>
        <source>Choose float32 or bfloat16 for the flow.</source>
        <translation>流匹配请选择 float32 或 bfloat16。</translation>
    </message>
    <message>
        <source>Choose float32 or float16.</source>
        <translation>请选择 float32 或 float16。</translation>
    </message>
    <message>
        <source>Choose float32; if that fails too, download the model again.</source>
        <translation>请选择 float32；如果仍然失败，请重新下载模型。</translation>
    </message>
    <message>
        <source>Choose one from {lowest:g} to {highest:g}; 1 is the voice&apos;s own.</source>
        <translation>请选择 {lowest:g} 到 {highest:g}；1 为音色原本的语速。</translation>
    </message>
    <message>
        <source>Choose one of its styles, or describe the style in your own words.</source>
        <translation>请选择模型支持的风格，或用自己的话描述风格。</translation>
    </message>
    <message>
        <source>Choose one of {known}.</source>
        <translation>请选择以下之一：{known}。</translation>
    </message>
    <message>
        <source>Choose one of: {known}.</source>
        <translation>请选择以下之一：{known}。</translation>
    </message>
    <message>
        <source>Choose one that is installed.</source>
        <translation>请选择已安装的模型。</translation>
    </message>
    <message>
        <source>Choose one, or drop a recording of a voice on the window.</source>
        <translation>请选择音色，或将录音拖到窗口中。</translation>
    </message>
    <message>
        <source>Choose other lines, or another script.</source>
        <translation>请选择其他行或其他脚本。</translation>
    </message>
    <message>
        <source>Choose the spk2info.pt of a model folder.</source>
        <translation>请选择模型文件夹中的 spk2info.pt。</translation>
    </message>
    <message>
        <source>Choose yes or no.</source>
        <translation>请选择是或否。</translation>
    </message>
    <message>
        <source>Choose {known}.</source>
        <translation>请选择 {known}。</translation>
    </message>
    <message>
        <source>Choose {lowest:g} to {highest:g}.</source>
        <translation>请选择 {lowest:g} 到 {highest:g}。</translation>
    </message>
    <message>
        <source>Choose {lowest} to {highest}.</source>
        <translation>请选择 {lowest} 到 {highest}。</translation>
    </message>
    <message>
        <source>Choose {quietest:g} to {loudest:g}; -16 is usual for podcasts, -19 for audiobooks.</source>
        <translation>请选择 {quietest:g} 到 {loudest:g}；播客通常为 -16，有声书为 -19。</translation>
    </message>
    <message>
        <source>Close it, or try again in a moment.</source>
        <translation>请将其关闭，或稍后再试。</translation>
    </message>
    <message>
        <source>Close other programs and build the engine again.</source>
        <translation>请关闭其他程序，然后重新构建引擎。</translation>
    </message>
    <message>
        <source>Close other programs, or choose another engine.</source>
        <translation>请关闭其他程序，或选择其他引擎。</translation>
    </message>
    <message>
        <source>Connect it, or choose another in the settings.</source>
        <translation>请连接设备，或在设置中选择其他设备。</translation>
    </message>
    <message>
        <source>Copy it again.</source>
        <translation>请重新复制。</translation>
    </message>
    <message>
        <source>Copy or download it again.</source>
        <translation>请重新复制或下载。</translation>
    </message>
    <message>
        <source>Do not use it.</source>
        <translation>请勿使用。</translation>
    </message>
    <message>
        <source>Do not use it; download the model again from a source you trust.</source>
        <translation>请勿使用，并从可信来源重新下载模型。</translation>
    </message>
    <message>
        <source>Download the model again, or repair its folder.</source>
        <translation>请重新下载模型，或修复其文件夹。</translation>
    </message>
    <message>
        <source>Download the model again.</source>
        <translation>请重新下载模型。</translation>
    </message>
    <message>
        <source>Enter a pattern such as {example}.</source>
        <translation>请输入命名规则，例如 {example}。</translation>
    </message>
    <message>
        <source>Free some space and try again.</source>
        <translation>请释放一些空间后重试。</translation>
    </message>
    <message>
        <source>Free some space and try again; nothing is lost.</source>
        <translation>请释放一些空间后重试，不会丢失任何内容。</translation>
    </message>
    <message>
        <source>Free some space, or keep models on a larger disk (Settings, Models).</source>
        <translation>请释放一些空间，或将模型保存到更大的磁盘（设置 › 模型）。</translation>
    </message>
    <message>
        <source>Give a folder, or one of: {known}.</source>
        <translation>请指定文件夹，或以下之一：{known}。</translation>
    </message>
    <message>
        <source>Give the folder that holds llm.pt, flow.pt and hift.pt.</source>
        <translation>请指定包含 llm.pt、flow.pt 和 hift.pt 的文件夹。</translation>
    </message>
    <message>
        <source>Import it in parts.</source>
        <translation>请分多次导入。</translation>
    </message>
    <message>
        <source>In {file}, a mel frame is {hop} samples for the prompt and {factor} for the vocoder.</source>
        <translation>{file} 中，参考音频每个梅尔帧为 {hop} 个采样，声码器为 {factor} 个。</translation>
    </message>
    <message>
        <source>In {file}, language model and flow disagree about the number of speech tokens ({lm_tokens} and {flow_tokens}).</source>
        <translation>{file} 中，语言模型与流匹配的语音 token 数不一致（{lm_tokens} 与 {flow_tokens}）。</translation>
    </message>
    <message>
        <source>In {file}, {key} refers to itself.</source>
        <translation>{file} 中，{key} 引用了自身。</translation>
    </message>
    <message>
        <source>In {file}, {key} {what}.</source>
        <translation>{file} 中，{key} {what}。</translation>
    </message>
    <message>
        <source>Install it (Debian, Ubuntu: apt-get install libportaudio2), or write to a file instead.</source>
        <translation>请安装 PortAudio（在 Debian 或 Ubuntu 上运行 apt-get install libportaudio2），或改为写入文件。</translation>
    </message>
    <message>
        <source>Install it again, or choose another engine.</source>
        <translation>请重新安装，或选择其他引擎。</translation>
    </message>
    <message>
        <source>Install it again: pip install --force-reinstall, or uv tool install --reinstall.</source>
        <translation>请运行 pip install --force-reinstall 或 uv tool install --reinstall 重新安装。</translation>
    </message>
    <message>
        <source>Install onnxruntime-gpu with the CUDA and cuDNN it was built for, or choose another engine.</source>
        <translation>请安装 onnxruntime-gpu 及其对应版本的 CUDA 和 cuDNN，或选择其他引擎。</translation>
    </message>
    <message>
        <source>Install the program again.</source>
        <translation>请重新安装程序。</translation>
    </message>
    <message>
        <source>It may have been moved or renamed.</source>
        <translation>可能已被移动或重命名。</translation>
    </message>
    <message>
        <source>Line {number} has not been spoken.</source>
        <translation>第 {number} 行尚未生成。</translation>
    </message>
    <message>
        <source>Load a model first.</source>
        <translation>请先加载模型。</translation>
    </message>
    <message>
        <source>No folder is chosen.</source>
        <translation>未选择文件夹。</translation>
    </message>
    <message>
        <source>No model is loaded.</source>
        <translation>未加载模型。</translation>
    </message>
    <message>
        <source>No process can be started for vLLM ({reason}).</source>
        <translation>无法启动 vLLM 进程（{reason}）。</translation>
    </message>
    <message>
        <source>Open a .timbre file, or import the text in it.</source>
        <translation>请打开 .timbre 文件，或导入其中的文本。</translation>
    </message>
    <message>
        <source>PyTorch does not start.</source>
        <translation>PyTorch 无法启动。</translation>
    </message>
    <message>
        <source>PyTorch or ONNX Runtime cannot be loaded ({reason}).</source>
        <translation>无法加载 PyTorch 或 ONNX Runtime（{reason}）。</translation>
    </message>
    <message>
        <source>PyTorch {torch}, ONNX Runtime {onnxruntime}</source>
        <translation>PyTorch {torch}，ONNX Runtime {onnxruntime}</translation>
    </message>
    <message>
        <source>Python</source>
        <translation>Python</translation>
    </message>
    <message>
        <source>Record or save it again.</source>
        <translation>请重新录音或重新保存。</translation>
    </message>
    <message>
        <source>Remove and add them again.</source>
        <translation>请删除后重新添加。</translation>
    </message>
    <message>
        <source>Remove one of them.</source>
        <translation>请删除其中一个。</translation>
    </message>
    <message>
        <source>Remove the voice and add it again.</source>
        <translation>请删除该音色后重新添加。</translation>
    </message>
    <message>
        <source>Row {number} of {name}: {reason}</source>
        <translation>{name} 的第 {number} 行：{reason}</translation>
    </message>
    <message>
        <source>Another program or window is installing, checking or removing the same model.</source>
        <translation>另一个程序或窗口正在安装、校验或删除该模型。</translation>
    </message>
    <message>
        <source>Check the microphone and its level, and record again.</source>
        <translation>请检查麦克风和音量后重新录制。</translation>
    </message>
    <message>
        <source>Check the permissions, or choose another folder.</source>
        <translation>请检查权限，或选择其他文件夹。</translation>
    </message>
    <message>
        <source>Choose another style, or another model.</source>
        <translation>请更换风格或模型。</translation>
    </message>
    <message>
        <source>Log in to the network, try again, or choose the other source.</source>
        <translation>请登录网络后重试，或更换下载源。</translation>
    </message>
    <message>
        <source>Put all files of one release into the folder, or install the model again.</source>
        <translation>请把同一版本的全部文件放进文件夹，或重新安装模型。</translation>
    </message>
    <message>
        <source>Run the set-up again: python3 packaging/run.py.</source>
        <translation>请运行 python3 packaging/run.py 重新安装。</translation>
    </message>
    <message>
        <source>Save it again as .docx, or as text.</source>
        <translation>请重新保存为 .docx 或文本。</translation>
    </message>
    <message>
        <source>Add or select lines first.</source>
        <translation>请先添加或选择行。</translation>
    </message>
    <message>
        <source>Choose a folder with a shorter path.</source>
        <translation>请选择路径更短的文件夹。</translation>
    </message>
    <message>
        <source>Choose another folder, or allow overwriting these files.</source>
        <translation>请选择其他文件夹，或允许覆盖这些文件。</translation>
    </message>
    <message>
        <source>Choose bfloat16 or float16.</source>
        <translation>请选择 bfloat16 或 float16。</translation>
    </message>
    <message>
        <source>Choose int8, or install a newer PyTorch.</source>
        <translation>请选择 int8，或安装较新的 PyTorch。</translation>
    </message>
    <message>
        <source>Flow or vocoder computed something that is not a number.</source>
        <translation>流匹配或声码器计算出了无效数值。</translation>
    </message>
    <message>
        <source>Put a number after the colon, as in {{field}:20}.</source>
        <translation>冒号后请填数字，例如 {{field}:20}。</translation>
    </message>
    <message>
        <source>Run the benchmark from a clone, or measure an installed model with --model.</source>
        <translation>请在源码克隆中运行基准测试，或用 --model 测量已安装的模型。</translation>
    </message>
    <message>
        <source>Save it again as CSV.</source>
        <translation>请重新保存为 CSV。</translation>
    </message>
    <message>
        <source>Save it as WAV, FLAC or MP3 and add it again.</source>
        <translation>请保存为 WAV、FLAC 或 MP3 后重新添加。</translation>
    </message>
    <message>
        <source>Save it as text, Markdown, Word (docx), subtitles or CSV.</source>
        <translation>请另存为文本、Markdown、Word（docx）、字幕或 CSV。</translation>
    </message>
    <message>
        <source>Save under another name to keep both.</source>
        <translation>请另存为其他名称，以保留两者。</translation>
    </message>
    <message>
        <source>Unexpected error: {reason}.</source>
        <translation>发生意外错误：{reason}。</translation>
    </message>
    <message>
        <source>Speak it and export again.</source>
        <translation>请生成后重新导出。</translation>
    </message>
    <message>
        <source>Speak the line again.</source>
        <translation>请重新生成此行。</translation>
    </message>
    <message>
        <source>Split the sentence.</source>
        <translation>请拆分句子。</translation>
    </message>
    <message>
        <source>Start the program on the desktop itself; `timbre --help` lists what works in a terminal.</source>
        <translation>请在桌面环境中启动本程序；`timbre --help` 列出终端中可用的命令。</translation>
    </message>
    <message>
        <source>TensorRT cannot be used: {reason}.</source>
        <translation>无法使用 TensorRT：{reason}。</translation>
    </message>
    <message>
        <source>TensorRT cannot build {file}: {reason}.</source>
        <translation>TensorRT 无法构建 {file}：{reason}。</translation>
    </message>
    <message>
        <source>TensorRT {version} is too old; {oldest} is needed</source>
        <translation>TensorRT {version} 太旧，需要 {oldest}</translation>
    </message>
    <message>
        <source>The alias of “{written}” cannot be read aloud.</source>
        <translation>“{written}”的替换文本无法朗读。</translation>
    </message>
    <message>
        <source>The clip is empty.</source>
        <translation>参考音频为空。</translation>
    </message>
    <message>
        <source>The clip is silent.</source>
        <translation>参考音频全是静音。</translation>
    </message>
    <message>
        <source>The description of a built engine cannot be read.</source>
        <translation>无法读取已构建引擎的描述文件。</translation>
    </message>
    <message>
        <source>The disk is full: the voice could not be saved.</source>
        <translation>磁盘已满：无法保存音色。</translation>
    </message>
    <message>
        <source>The disk is full: {file} could not be written.</source>
        <translation>磁盘已满：无法写入 {file}。</translation>
    </message>
    <message>
        <source>The disk is full: {path} could not be written.</source>
        <translation>磁盘已满：无法写入 {path}。</translation>
    </message>
    <message>
        <source>The document cannot be read as a script.</source>
        <translation>文档无法作为脚本读取。</translation>
    </message>
    <message>
        <source>The export would create no file.</source>
        <translation>本次导出不会生成任何文件。</translation>
    </message>
    <message>
        <source>The field {{field}:{spec}} is invalid.</source>
        <translation>字段 {{field}:{spec}} 无效。</translation>
    </message>
    <message>
        <source>The loudness {lufs:g} LUFS is out of range.</source>
        <translation>响度 {lufs:g} LUFS 超出范围。</translation>
    </message>
    <message>
        <source>The name pattern creates too many folders.</source>
        <translation>命名规则包含的文件夹层级过多。</translation>
    </message>
    <message>
        <source>The name pattern has an unknown field {{field}}.{did_you_mean}</source>
        <translation>命名规则中有未知字段 {{field}}。{did_you_mean}</translation>
    </message>
    <message>
        <source>The name pattern {pattern} has an unmatched brace.</source>
        <translation>命名规则 {pattern} 中的大括号不成对。</translation>
    </message>
    <message>
        <source>The path {folder} is too long.</source>
        <translation>路径 {folder} 太长。</translation>
    </message>
    <message>
        <source>The flow cannot run in {name}.</source>
        <translation>流匹配无法以 {name} 运行。</translation>
    </message>
    <message>
        <source>The flow cannot run in {precision}.</source>
        <translation>流匹配无法以 {precision} 运行。</translation>
    </message>
    <message>
        <source>The folder mixes files of different models: download the model again.</source>
        <translation>文件夹中混有不同模型的文件：请重新下载模型。</translation>
    </message>
    <message>
        <source>The loaded model has no style “{style}”.{did_you_mean}</source>
        <translation>已加载的模型没有风格“{style}”。{did_you_mean}</translation>
    </message>
    <message>
        <source>The name pattern is empty.</source>
        <translation>命名规则为空。</translation>
    </message>
    <message>
        <source>The project is open in another window.</source>
        <translation>该脚本已在另一个窗口中打开。</translation>
    </message>
    <message>
        <source>The pronunciation dictionary, {path}, is damaged.</source>
        <translation>读音词典 {path} 已损坏。</translation>
    </message>
    <message>
        <source>The recording in {file} cannot be used.</source>
        <translation>无法使用 {file} 中的录音。</translation>
    </message>
    <message>
        <source>The recording {file} cannot be read ({reason}).</source>
        <translation>无法读取录音 {file}（{reason}）。</translation>
    </message>
    <message>
        <source>The sample rate {sample_rate} Hz is not supported.</source>
        <translation>不支持 {sample_rate} Hz 采样率。</translation>
    </message>
    <message>
        <source>The sound device {name} is not connected.</source>
        <translation>音频设备 {name} 未连接。</translation>
    </message>
    <message>
        <source>The speech for this export cannot be stored in {folder}: the disk is full or write-protected.</source>
        <translation>无法将本次导出的语音存入 {folder}：磁盘已满或写保护。</translation>
    </message>
    <message>
        <source>The speech language model computed something that is not a number.</source>
        <translation>语言模型计算出了无效数值。</translation>
    </message>
    <message>
        <source>The stored voice {name} is damaged.</source>
        <translation>预存音色 {name} 已损坏。</translation>
    </message>
    <message>
        <source>The stored voice {name} lacks {key}.</source>
        <translation>预存音色 {name} 缺少 {key}。</translation>
    </message>
    <message>
        <source>The text has {length:,} characters; one request takes {most:,}.</source>
        <translation>文本有 {length:,} 个字符；一次最多 {most:,} 个。</translation>
    </message>
    <message>
        <source>The text is empty.</source>
        <translation>文本为空。</translation>
    </message>
    <message>
        <source>The transcript of the stored voice {name} is damaged.</source>
        <translation>预存音色 {name} 的参考文本已损坏。</translation>
    </message>
    <message>
        <source>The true-peak limit {peak:g} dBTP is out of range.</source>
        <translation>真峰值上限 {peak:g} dBTP 超出范围。</translation>
    </message>
    <message>
        <source>The window cannot be shown: {reason}.</source>
        <translation>无法显示窗口：{reason}。</translation>
    </message>
    <message>
        <source>There are no lines to export.</source>
        <translation>没有可导出的行。</translation>
    </message>
    <message>
        <source>There is no file {choice}.</source>
        <translation>找不到文件 {choice}。</translation>
    </message>
    <message>
        <source>There is no file {path}.</source>
        <translation>找不到文件 {path}。</translation>
    </message>
    <message>
        <source>There is no folder {folder}.</source>
        <translation>找不到文件夹 {folder}。</translation>
    </message>
    <message>
        <source>No GPU that PyTorch can use matches “{wish}”.</source>
        <translation>没有与“{wish}”匹配且 PyTorch 可用的 GPU。</translation>
    </message>
    <message>
        <source>8-bit calibration needs streamed blocks; this model has none</source>
        <translation>8 位校准以流式分块为单位，而该模型没有流式分块</translation>
    </message>
    <message>
        <source>A file per character or language needs the original times.</source>
        <translation>按角色或语言分文件导出需要使用原始时间。</translation>
    </message>
    <message>
        <source>A message is not a JSON object.</source>
        <translation>收到的消息不是 JSON 对象。</translation>
    </message>
    <message>
        <source>A program sent the speech service a request with missing or invalid values.</source>
        <translation>某个程序发给语音服务的请求缺少参数，或参数无效。</translation>
    </message>
    <message>
        <source>A request to the speech service had an unknown host name, or came from a web page.</source>
        <translation>语音服务收到的请求使用了未知的主机名，或来自网页。</translation>
    </message>
    <message>
        <source>A request to the speech service exceeds its limit of bytes.</source>
        <translation>发给语音服务的请求超过了大小上限。</translation>
    </message>
    <message>
        <source>The token of a request to the speech service was missing or wrong.</source>
        <translation>发给语音服务的请求没有带令牌，或令牌不符。</translation>
    </message>
    <message>
        <source>A voice needs the consent of its speaker.</source>
        <translation>添加音色需要说话人同意。</translation>
    </message>
    <message>
        <source>AAC needs PyAV, which is not installed here.</source>
        <translation>AAC 格式需要 PyAV，但尚未安装。</translation>
    </message>
    <message>
        <source>Accepted</source>
        <translation>已接受</translation>
    </message>
    <message>
        <source>Add a voice first.</source>
        <translation>请先添加音色。</translation>
    </message>
    <message>
        <source>Add one: POST /v1/audio/voices.</source>
        <translation>请添加音色：POST /v1/audio/voices。</translation>
    </message>
    <message>
        <source>At {seconds:.1f} s, {problem}, and there are {count} more problems.</source>
        <translation>{seconds:.1f} 秒处{problem}，另有 {count} 个问题。</translation>
    </message>
    <message>
        <source>At {seconds:.1f} s, {problem}, and there is 1 more problem.</source>
        <translation>{seconds:.1f} 秒处{problem}，另有 1 个问题。</translation>
    </message>
    <message>
        <source>At {seconds:.1f} s, {problem}.</source>
        <translation>{seconds:.1f} 秒处{problem}。</translation>
    </message>
    <message>
        <source>Bad</source>
        <translation>有误</translation>
    </message>
    <message>
        <source>Check the take again. The log describes the cause: {log}</source>
        <translation>请重新检查该条音频。日志说明了原因：{log}</translation>
    </message>
    <message>
        <source>Check the take again; the process is restarted automatically. Speech is not affected.</source>
        <translation>请重新检查该条音频；进程会自动重启，语音生成不受影响。</translation>
    </message>
    <message>
        <source>Choose another voice, or load a {own} model.</source>
        <translation>请选择其他音色，或加载 {own} 模型。</translation>
    </message>
    <message>
        <source>Close other programs and try again.</source>
        <translation>请关闭其他程序后重试。</translation>
    </message>
    <message>
        <source>Close other programs, or choose a smaller recogniser.</source>
        <translation>请关闭其他程序，或选择较小的语音识别模型。</translation>
    </message>
    <message>
        <source>Connect again.</source>
        <translation>请重新连接。</translation>
    </message>
    <message>
        <source>Correct the request; the response names the invalid value.</source>
        <translation>请修改请求；响应中会指出是哪个参数。</translation>
    </message>
    <message>
        <source>Create it, or choose another.</source>
        <translation>请创建该文件夹，或另选一个。</translation>
    </message>
    <message>
        <source>Doubtful</source>
        <translation>可疑</translation>
    </message>
    <message>
        <source>Give it with --text, or in the file {name}.</source>
        <translation>请用 --text 提供，或写入文件 {name}。</translation>
    </message>
    <message>
        <source>Good</source>
        <translation>良好</translation>
    </message>
    <message>
        <source>Install a recogniser. `timbre models list` shows the languages of each.</source>
        <translation>请安装语音识别模型：`timbre models list` 会列出各模型支持的语言。</translation>
    </message>
    <message>
        <source>Install another recogniser. `timbre models list` shows the languages of each.</source>
        <translation>请安装其他语音识别模型：`timbre models list` 会列出各模型支持的语言。</translation>
    </message>
    <message>
        <source>Install it with `pip install pocketsphinx`, or install another recogniser (`timbre models list`).</source>
        <translation>请用 `pip install pocketsphinx` 安装，或安装其他语音识别模型（`timbre models list`）。</translation>
    </message>
    <message>
        <source>Install it with `timbre models install {name}`, or choose one of: {known}.</source>
        <translation>请用 `timbre models install {name}` 安装，或从以下模型中选择：{known}。</translation>
    </message>
    <message>
        <source>Install one. `timbre models list` shows the languages of each.</source>
        <translation>请安装一个：`timbre models list` 会列出各模型支持的语言。</translation>
    </message>
    <message>
        <source>Install the model again.</source>
        <translation>请重新安装该模型。</translation>
    </message>
    <message>
        <source>Name a file with --token-file; it is created if it does not exist.</source>
        <translation>请用 --token-file 指定令牌文件；文件不存在时会自动创建。</translation>
    </message>
    <message>
        <source>Name the columns in the first row of the table.</source>
        <translation>请在表格第一行写上列名。</translation>
    </message>
    <message>
        <source>No installed speech recogniser supports the language of the text ({language}).</source>
        <translation>已安装的语音识别模型都不支持文本的语言（{language}）。</translation>
    </message>
    <message>
        <source>No installed speech recogniser supports the language of the text, or the chosen one is not installed.</source>
        <translation>已安装的语音识别模型都不支持文本的语言，或所选的识别模型未安装。</translation>
    </message>
    <message>
        <source>No message arrived in time.</source>
        <translation>在规定时间内没有收到消息。</translation>
    </message>
    <message>
        <source>Not checked</source>
        <translation>未检查</translation>
    </message>
    <message>
        <source>Not checked yet.</source>
        <translation>尚未检查。</translation>
    </message>
    <message>
        <source>Other computers can reach {host}, so the service needs a token.</source>
        <translation>其他电脑可以访问 {host}，因此服务需要令牌。</translation>
    </message>
    <message>
        <source>Other users can read the token file {path}.</source>
        <translation>其他用户可以读取令牌文件 {path}。</translation>
    </message>
    <message>
        <source>Put line1.txt beside line1.wav, or give a table with the columns file and text.</source>
        <translation>请将 line1.txt 放在 line1.wav 旁边，或提供含 file 和 text 两列的表格。</translation>
    </message>
    <message>
        <source>Repair it with `timbre models verify {name} --repair`.</source>
        <translation>请用 `timbre models verify {name} --repair` 修复。</translation>
    </message>
    <message>
        <source>Request 24000 or 48000 Hz, or omit the sample rate.</source>
        <translation>请改用 24000 或 48000 Hz，或不指定采样率。</translation>
    </message>
    <message>
        <source>Request mp3, opus, flac, wav or pcm. {how}</source>
        <translation>请改用 mp3、opus、flac、wav 或 pcm。{how}</translation>
    </message>
    <message>
        <source>Request {served}, or start another service with --model.</source>
        <translation>请改用 {served}，或用 --model 另外启动一个服务。</translation>
    </message>
    <message>
        <source>Restrict it: chmod 600 {path}.</source>
        <translation>请限制权限：chmod 600 {path}。</translation>
    </message>
    <message>
        <source>Save it as UTF-8 text.</source>
        <translation>请保存为 UTF-8 文本。</translation>
    </message>
    <message>
        <source>State in “consent” who consented, and to what.</source>
        <translation>请在“consent”中写明谁同意了什么用途。</translation>
    </message>
    <message>
        <source>Send a shorter text or recording.</source>
        <translation>请缩短文本或录音。</translation>
    </message>
    <message>
        <source>Send it again, without pauses.</source>
        <translation>请重新发送，中途不要停顿。</translation>
    </message>
    <message>
        <source>Send it as the API key: “Authorization: Bearer TOKEN”.</source>
        <translation>请把它作为 API 密钥发送：“Authorization: Bearer TOKEN”。</translation>
    </message>
    <message>
        <source>Send it once.</source>
        <translation>只发送一次即可。</translation>
    </message>
    <message>
        <source>Send the request again later; the response states when.</source>
        <translation>请稍后重新发送；响应中会说明时间。</translation>
    </message>
    <message>
        <source>Set the API key of the client to the token of the service.</source>
        <translation>请把客户端的 API 密钥设为服务的令牌。</translation>
    </message>
    <message>
        <source>Split it.</source>
        <translation>请分段发送。</translation>
    </message>
    <message>
        <source>Start it with --allow-origin to permit one page.</source>
        <translation>如需允许某个网页，请用 --allow-origin 启动服务。</translation>
    </message>
    <message>
        <source>Switch it on again.</source>
        <translation>请重新开启。</translation>
    </message>
    <message>
        <source>The check found no problems.</source>
        <translation>检查未发现问题。</translation>
    </message>
    <message>
        <source>The check was not possible ({code}).</source>
        <translation>无法检查（{code}）。</translation>
    </message>
    <message>
        <source>The field “{field}” is invalid: {reason}.</source>
        <translation>字段“{field}”无效：{reason}。</translation>
    </message>
    <message>
        <source>The format {format} does not support a sample rate of {rate} Hz.</source>
        <translation>{format} 格式不支持 {rate} Hz 的采样率。</translation>
    </message>
    <message>
        <source>The header {name} occurs twice.</source>
        <translation>请求头 {name} 出现了两次。</translation>
    </message>
    <message>
        <source>The host name of this request is not known.</source>
        <translation>请求使用了未知的主机名。</translation>
    </message>
    <message>
        <source>The process that checks takes could not be started ({reason}).</source>
        <translation>无法启动检查音频的进程（{reason}）。</translation>
    </message>
    <message>
        <source>The process that checks takes did not respond and was stopped.</source>
        <translation>检查音频的进程没有响应，已被停止。</translation>
    </message>
    <message>
        <source>The process that checks takes ended unexpectedly ({how}).</source>
        <translation>检查音频的进程意外结束（{how}）。</translation>
    </message>
    <message>
        <source>The process that checks takes ended: it crashed, or the system ended it for lack of memory.</source>
        <translation>检查音频的进程已结束：进程崩溃，或系统因内存不足将其终止。</translation>
    </message>
    <message>
        <source>The queue of the speech service is full.</source>
        <translation>语音服务的队列已满。</translation>
    </message>
    <message>
        <source>The recogniser for English is not installed.</source>
        <translation>英语识别组件未安装。</translation>
    </message>
    <message>
        <source>The request did not arrive in time.</source>
        <translation>请求没有在规定时间内发送完。</translation>
    </message>
    <message>
        <source>The request is too large.</source>
        <translation>请求过大。</translation>
    </message>
    <message>
        <source>The service cannot listen on {host}, port {port} ({reason}).</source>
        <translation>服务无法监听 {host} 的端口 {port}（{reason}）。</translation>
    </message>
    <message>
        <source>The speech recogniser does not understand this voice, for example a robotic one.</source>
        <translation>语音识别模型听不懂该音色，例如机械音。</translation>
    </message>
    <message>
        <source>The speech recogniser does not understand this voice.</source>
        <translation>语音识别模型听不懂该音色。</translation>
    </message>
    <message>
        <source>The speech recogniser {name} cannot be loaded ({reason}).</source>
        <translation>无法加载语音识别模型 {name}（{reason}）。</translation>
    </message>
    <message>
        <source>The speakers in {file} cannot be read.</source>
        <translation>无法读取 {file} 中的内置音色。</translation>
    </message>
    <message>
        <source>Line</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Problems</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Share of wrong words</source>
        <translation>错词比例</translation>
    </message>
    <message>
        <source>Similarity of the voice</source>
        <translation>音色相似度</translation>
    </message>
    <message>
        <source>Take</source>
        <translation>音频</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>The speech recogniser {name} is not installed.</source>
        <translation>语音识别模型 {name} 未安装。</translation>
    </message>
    <message>
        <source>The speech service ended unexpectedly.</source>
        <translation>语音服务意外终止。</translation>
    </message>
    <message>
        <source>The speech service needs libraries that are not installed ({reason}).</source>
        <translation>语音服务所需的库尚未安装（{reason}）。</translation>
    </message>
    <message>
        <source>The speech was not completed.</source>
        <translation>语音生成未完成。</translation>
    </message>
    <message>
        <source>The text is longer than {number} characters.</source>
        <translation>文本超过 {number} 个字符。</translation>
    </message>
    <message>
        <source>The token file {path} cannot be used ({reason}).</source>
        <translation>无法使用令牌文件 {path}（{reason}）。</translation>
    </message>
    <message>
        <source>The token is missing or wrong.</source>
        <translation>缺少令牌，或令牌不正确。</translation>
    </message>
    <message>
        <source>There are no voices.</source>
        <translation>没有音色。</translation>
    </message>
    <message>
        <source>There is no model folder {folder}.</source>
        <translation>找不到模型文件夹 {folder}。</translation>
    </message>
    <message>
        <source>There is no model {choice}.</source>
        <translation>找不到模型 {choice}。</translation>
    </message>
    <message>
        <source>There is no model {choice}.{did_you_mean}</source>
        <translation>找不到模型 {choice}。{did_you_mean}</translation>
    </message>
    <message>
        <source>There is no text for {path}.</source>
        <translation>{path} 没有对应的文本。</translation>
    </message>
    <message>
        <source>There is no voice named {name}.{did_you_mean}</source>
        <translation>找不到名为 {name} 的音色。{did_you_mean}</translation>
    </message>
    <message>
        <source>There is no voice to measure with.</source>
        <translation>没有可用于测速的音色。</translation>
    </message>
    <message>
        <source>There is not enough memory for this sentence.</source>
        <translation>内存不足，无法生成这句话。</translation>
    </message>
    <message>
        <source>There is not enough memory for vLLM ({reason}).</source>
        <translation>内存不足，无法运行 vLLM（{reason}）。</translation>
    </message>
    <message>
        <source>There is not enough memory to check the take.</source>
        <translation>内存不足，无法检查该条音频。</translation>
    </message>
    <message>
        <source>There is nothing to speak in this text.</source>
        <translation>这段文本中没有可生成语音的内容。</translation>
    </message>
    <message>
        <source>This draft is open in another window.</source>
        <translation>此草稿已在另一个窗口中打开。</translation>
    </message>
    <message>
        <source>This line has no voice.</source>
        <translation>此行未选择音色。</translation>
    </message>
    <message>
        <source>This line is empty.</source>
        <translation>此行为空。</translation>
    </message>
    <message>
        <source>This service does not serve the model {name}.</source>
        <translation>此服务不提供模型 {name}。</translation>
    </message>
    <message>
        <source>This take is no longer in the project.</source>
        <translation>该条音频已不在脚本中。</translation>
    </message>
    <message>
        <source>Try again in {seconds} s.</source>
        <translation>请在 {seconds} 秒后重试。</translation>
    </message>
    <message>
        <source>Try again later, or choose another source (Settings, Models).</source>
        <translation>请稍后再试，或更换下载源（设置 › 模型）。</translation>
    </message>
    <message>
        <source>Try again with another seed, or write a longer text.</source>
        <translation>请换一个种子重试，或输入更长的文本。</translation>
    </message>
    <message>
        <source>Try again.</source>
        <translation>请重试。</translation>
    </message>
    <message>
        <source>Update this program.</source>
        <translation>请更新本程序。</translation>
    </message>
    <message>
        <source>Use a shorter recording or a shorter text.</source>
        <translation>请使用更短的录音或文本。</translation>
    </message>
    <message>
        <source>Use at most {most} slashes.</source>
        <translation>最多使用 {most} 个斜杠。</translation>
    </message>
    <message>
        <source>Use letters, digits and spaces.</source>
        <translation>请使用字母、数字和空格。</translation>
    </message>
    <message>
        <source>Use the address of the service, or start it with --allow-host NAME.</source>
        <translation>请使用服务的地址，或用 --allow-host NAME 启动服务。</translation>
    </message>
    <message>
        <source>Use the address of the service, or start it with --allow-host or --allow-origin.</source>
        <translation>请使用服务的地址，或用 --allow-host、--allow-origin 启动服务。</translation>
    </message>
    <message>
        <source>Use {known}.</source>
        <translation>请使用 {known}。</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>检查结果</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>Web pages may not use this service.</source>
        <translation>网页不能使用此服务。</translation>
    </message>
    <message>
        <source>Write a .wav file.</source>
        <translation>请写入 .wav 文件。</translation>
    </message>
    <message>
        <source>Write a shorter pause, or several in a row.</source>
        <translation>请缩短停顿，或连续使用多个停顿。</translation>
    </message>
    <message>
        <source>Write at least one word or number.</source>
        <translation>请至少输入一个词或数字。</translation>
    </message>
    <message>
        <source>Write at least one word.</source>
        <translation>请至少输入一个词。</translation>
    </message>
    <message>
        <source>Write some words.</source>
        <translation>请输入文字。</translation>
    </message>
    <message>
        <source>`timbre --help` lists what works in a terminal.</source>
        <translation>`timbre --help` 列出在终端中可用的功能。</translation>
    </message>
    <message>
        <source>a file cannot be written or read: {reason}</source>
        <translation>无法写入或读取文件：{reason}</translation>
    </message>
    <message>
        <source>a file without a suffix</source>
        <translation>无扩展名的文件</translation>
    </message>
    <message>
        <source>a part of the path is not a folder</source>
        <translation>路径中的某一级不是文件夹</translation>
    </message>
    <message>
        <source>a sound repeats in a loop</source>
        <translation>有声音循环重复</translation>
    </message>
    <message>
        <source>accelerators</source>
        <translation>加速库</translation>
    </message>
    <message>
        <source>another program is using it</source>
        <translation>正被其他程序占用</translation>
    </message>
    <message>
        <source>cache</source>
        <translation>缓存</translation>
    </message>
    <message>
        <source>cannot be used ({reason})</source>
        <translation>无法使用（{reason}）</translation>
    </message>
    <message>
        <source>data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>the sentences of this model vary in length, but a recorded graph has a fixed length</source>
        <translation>该模型每句话的长度各不相同，而 CUDA Graph 的长度是固定的</translation>
    </message>
    <message>
        <source>exit status {status}</source>
        <translation>退出状态 {status}</translation>
    </message>
    <message>
        <source>A cluster needs libraries that are not installed ({reason}).</source>
        <translation>集群所需的库未安装（{reason}）。</translation>
    </message>
    <message>
        <source>A node of the cluster {address} runs on this computer already.</source>
        <translation>本机已在运行集群 {address} 的一个节点。</translation>
    </message>
    <message>
        <source>A replica of the cluster was lost.</source>
        <translation>集群中的一个副本已失效。</translation>
    </message>
    <message>
        <source>Add the certificate of its authority to this computer, or set SSL_CERT_FILE to its file.</source>
        <translation>请把其颁发机构的证书加入本机的受信任证书，或用 SSL_CERT_FILE 指定证书文件。</translation>
    </message>
    <message>
        <source>Add the voice again.</source>
        <translation>请重新添加该音色。</translation>
    </message>
    <message>
        <source>An audio file cannot contain word times.</source>
        <translation>音频文件中无法包含逐词时间。</translation>
    </message>
    <message>
        <source>Check its address and that `timbre serve` runs there, or use a model of this computer.</source>
        <translation>请检查其地址，并确认那台电脑上正在运行 `timbre serve`；也可以改用本机的模型。</translation>
    </message>
    <message>
        <source>Check its address, that it is switched on, and that `timbre serve` runs there; or use this computer.</source>
        <translation>请检查地址是否正确、那台电脑是否开机、是否正在运行 `timbre serve`；也可以改用本机。</translation>
    </message>
    <message>
        <source>Check the address and the port.</source>
        <translation>请检查地址和端口。</translation>
    </message>
    <message>
        <source>Choose a model of this computer first.</source>
        <translation>请先选用本机的模型。</translation>
    </message>
    <message>
        <source>Choose from: {parts}.</source>
        <translation>可选：{parts}。</translation>
    </message>
    <message>
        <source>Choose that model, or speak the line again.</source>
        <translation>请选择该模型，或重新生成这一行。</translation>
    </message>
    <message>
        <source>Choose the CPU in Settings, or a smaller model.</source>
        <translation>请在设置中选择 CPU，或选择更小的模型。</translation>
    </message>
    <message>
        <source>Close other programs that use the GPU, choose a smaller model, or choose the CPU in Settings.</source>
        <translation>请关闭其他使用 GPU 的程序，选择更小的模型，或在设置中选择 CPU。</translation>
    </message>
    <message>
        <source>End it with “timbre cluster stop”.</source>
        <translation>请用“timbre cluster stop”停止。</translation>
    </message>
    <message>
        <source>Enter the token of `timbre serve` on the other computer.</source>
        <translation>请输入另一台电脑上 `timbre serve` 的令牌。</translation>
    </message>
    <message>
        <source>Enter the token of the proxy in front of it.</source>
        <translation>请输入它前面的代理服务器的令牌。</translation>
    </message>
    <message>
        <source>Give one of these with --model: {known}.</source>
        <translation>请用 --model 指定其中之一：{known}。</translation>
    </message>
    <message>
        <source>Install the same version of Timbre Studio on both computers.</source>
        <translation>请在两台电脑上安装相同版本的 Timbre Studio。</translation>
    </message>
    <message>
        <source>No cluster runs on this computer.</source>
        <translation>本机没有运行中的集群。</translation>
    </message>
    <message>
        <source>No supported version of PyTorch has kernels for this GPU.</source>
        <translation>受支持的 PyTorch 版本都没有适用于此 GPU 的内核。</translation>
    </message>
    <message>
        <source>ONNX Runtime {version} does not support 8-bit and 4-bit weights.</source>
        <translation>ONNX Runtime {version} 不支持 8 位和 4 位权重。</translation>
    </message>
    <message>
        <source>Ray did not start on this computer.</source>
        <translation>Ray 未能在本机启动。</translation>
    </message>
    <message>
        <source>Ray would run the code of every program that can reach its ports, because its authentication is off.</source>
        <translation>Ray 的身份验证未开启，任何能访问其端口的程序都可以在此执行代码。</translation>
    </message>
    <message>
        <source>Request the stream_format “json” or “sse”.</source>
        <translation>请将 stream_format 设为“json”或“sse”。</translation>
    </message>
    <message>
        <source>Run “ray get-auth-token --generate” on one computer, copy ~/.ray/auth_token to the others, and set {variable}=token on all of them.</source>
        <translation>请在一台电脑上运行“ray get-auth-token --generate”，将 ~/.ray/auth_token 复制到其他电脑，并在所有电脑上设置 {variable}=token。</translation>
    </message>
    <message>
        <source>Send it again.</source>
        <translation>请重新发送。</translation>
    </message>
    <message>
        <source>Send its file first.</source>
        <translation>请先发送其文件。</translation>
    </message>
    <message>
        <source>Send the file of the voice first, as Timbre Studio does.</source>
        <translation>请像 Timbre Studio 那样先发送音色文件。</translation>
    </message>
    <message>
        <source>Speak the line again, or use a model of this computer.</source>
        <translation>请重新生成这一行，或改用本机的模型。</translation>
    </message>
    <message>
        <source>Speaking through Triton needs libraries that are not installed ({reason}).</source>
        <translation>通过 Triton 生成所需的库未安装（{reason}）。</translation>
    </message>
    <message>
        <source>Start it with “timbre cluster start”.</source>
        <translation>请用“timbre cluster start”启动。</translation>
    </message>
    <message>
        <source>TensorRT for RTX does not support this stage on compute capability {c}</source>
        <translation>TensorRT for RTX 在计算能力 {c} 的显卡上不支持这个阶段</translation>
    </message>
    <message>
        <source>Test the connection again, and choose another model.</source>
        <translation>请重新测试连接，并选择其他模型。</translation>
    </message>
    <message>
        <source>The audio so far is kept. Speak the line again, or use this computer.</source>
        <translation>已收到的音频会保留。请重新生成这一行，或改用本机。</translation>
    </message>
    <message>
        <source>The benchmark has no part {part}.</source>
        <translation>基准测试没有“{part}”这一部分。</translation>
    </message>
    <message>
        <source>The cluster cannot serve ({reason}).</source>
        <translation>集群无法提供服务（{reason}）。</translation>
    </message>
    <message>
        <source>The cluster is busy.</source>
        <translation>集群繁忙。</translation>
    </message>
    <message>
        <source>The cluster {address} does not answer ({reason}).</source>
        <translation>集群 {address} 没有响应（{reason}）。</translation>
    </message>
    <message>
        <source>The connection to the other computer was lost in the middle of a line, and could not be restored.</source>
        <translation>生成途中与另一台电脑的连接中断，且未能恢复。</translation>
    </message>
    <message>
        <source>The file of the voice arrived damaged.</source>
        <translation>音色文件在传输中损坏。</translation>
    </message>
    <message>
        <source>The installed PyTorch {version} does not support {gpu}.</source>
        <translation>已安装的 PyTorch {version} 不支持 {gpu}。</translation>
    </message>
    <message>
        <source>The logs are in /tmp/ray/session_latest.</source>
        <translation>日志位于 /tmp/ray/session_latest。</translation>
    </message>
    <message>
        <source>The other computer does not support this.</source>
        <translation>另一台电脑不支持此操作。</translation>
    </message>
    <message>
        <source>The other computer cannot be reached.</source>
        <translation>无法连接另一台电脑。</translation>
    </message>
    <message>
        <source>The reason is in {path}.</source>
        <translation>原因见 {path}。</translation>
    </message>
    <message>
        <source>The recogniser of a model only compares takes with their text.</source>
        <translation>模型自带的识别组件只能将音频与其文本对照。</translation>
    </message>
    <message>
        <source>The speech service does not have the file of a voice.</source>
        <translation>语音服务缺少某个音色的文件。</translation>
    </message>
    <message>
        <source>The token in {path} contains characters that tokens do not have.</source>
        <translation>{path} 中的令牌含有无效字符。</translation>
    </message>
    <message>
        <source>Exported as drafts. For exact takes, make drafts final first (menu Speak).</source>
        <translation>这些音频是草稿。要导出精确的音频，请先将其转为成品（“生成”菜单）。</translation>
    </message>
    <message>
        <source>This is not possible while another computer runs the model.</source>
        <translation>由另一台电脑生成时不支持此操作。</translation>
    </message>
    <message>
        <source>This model needs {needed:.1f} GB of memory on {gpu}, where {free:.1f} GB are available.</source>
        <translation>此模型需要 {gpu} 上 {needed:.1f} GB 的显存，而可用的只有 {free:.1f} GB。</translation>
    </message>
    <message>
        <source>This service does not have the voice.</source>
        <translation>此服务没有该音色。</translation>
    </message>
    <message>
        <source>Try again in a few seconds.</source>
        <translation>请过几秒再试。</translation>
    </message>
    <message>
        <source>Update the NVIDIA driver to 580 or later, or install PyTorch for CUDA 12.6 from {index}.</source>
        <translation>请将 NVIDIA 驱动更新到 580 或更高版本，或从 {index} 安装 CUDA 12.6 版 PyTorch。</translation>
    </message>
    <message>
        <source>Update the NVIDIA driver to 580 or later, then install PyTorch for CUDA 13.0 from {index}.</source>
        <translation>请将 NVIDIA 驱动更新到 580 或更高版本，然后从 {index} 安装 CUDA 13.0 版 PyTorch。</translation>
    </message>
    <message>
        <source>Update the NVIDIA driver to 580 or later. {then}</source>
        <translation>请将 NVIDIA 驱动更新到 580 或更高版本。{then}</translation>
    </message>
    <message>
        <source>Use a model of this computer.</source>
        <translation>请改用本机的模型。</translation>
    </message>
    <message>
        <source>Use its IP address, or start `timbre serve` there with --allow-host NAME.</source>
        <translation>请使用其 IP 地址，或在那台电脑上用 --allow-host NAME 启动 `timbre serve`。</translation>
    </message>
    <message>
        <source>cannot be reached</source>
        <translation>无法连接</translation>
    </message>
    <message>
        <source>changed its engine</source>
        <translation>更换了引擎</translation>
    </message>
    <message>
        <source>is not a group of settings</source>
        <translation>不是一组设置</translation>
    </message>
    <message>
        <source>is {value}, not a list of positive whole numbers</source>
        <translation>是 {value}，而不是正整数列表</translation>
    </message>
    <message>
        <source>is {value}, not a list of {n} positive whole numbers</source>
        <translation>是 {value}，不是 {n} 个正整数的列表</translation>
    </message>
    <message>
        <source>is {value}, not a number from {low:g} to {high:g}</source>
        <translation>是 {value}，不是 {low:g} 到 {high:g} 之间的数</translation>
    </message>
    <message>
        <source>is {value}, not a whole number from {low} to {high}</source>
        <translation>是 {value}，不是 {low} 到 {high} 之间的整数</translation>
    </message>
    <message>
        <source>is {value}, not lists of positive whole numbers</source>
        <translation>是 {value}，不是由正整数列表组成</translation>
    </message>
    <message>
        <source>it could not be opened</source>
        <translation>无法打开</translation>
    </message>
    <message>
        <source>it exists already</source>
        <translation>已存在</translation>
    </message>
    <message>
        <source>it is a folder</source>
        <translation>是文件夹</translation>
    </message>
    <message>
        <source>it is in use</source>
        <translation>正被占用</translation>
    </message>
    <message>
        <source>it is not an ordinary file</source>
        <translation>不是普通文件</translation>
    </message>
    <message>
        <source>libraries</source>
        <translation>程序库</translation>
    </message>
    <message>
        <source>logs</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>missing: {names}</source>
        <translation>缺少：{names}</translation>
    </message>
    <message>
        <source>model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>model {name}</source>
        <translation>模型 {name}</translation>
    </message>
    <message>
        <source>models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>no process can be started ({reason})</source>
        <translation>无法启动进程（{reason}）</translation>
    </message>
    <message>
        <source>no such file or folder</source>
        <translation>文件或文件夹不存在</translation>
    </message>
    <message>
        <source>none in the log</source>
        <translation>日志中没有</translation>
    </message>
    <message>
        <source>none installed</source>
        <translation>未安装</translation>
    </message>
    <message>
        <source>none is installed</source>
        <translation>未安装</translation>
    </message>
    <message>
        <source>onnxruntime-gpu is not installed (pip uninstall -y onnxruntime, then pip install &apos;onnxruntime-gpu[cuda,cudnn]&apos;)</source>
        <translation>未安装 onnxruntime-gpu（先运行 pip uninstall -y onnxruntime，再运行 pip install &apos;onnxruntime-gpu[cuda,cudnn]&apos;）</translation>
    </message>
    <message>
        <source>permission denied</source>
        <translation>没有权限</translation>
    </message>
    <message>
        <source>processor</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>program</source>
        <translation>程序</translation>
    </message>
    <message>
        <source>A text file or the pronunciation dictionary cannot be read.</source>
        <translation>无法读取文本文件或读音词典。</translation>
    </message>
    <message>
        <source> PyTorch {version} is built without support for NVIDIA GPUs. If there is one, `timbre doctor` names the right build.</source>
        <translation>当前的 PyTorch {version} 不支持 NVIDIA GPU。如果本机装有 NVIDIA GPU，请运行 `timbre doctor` 查看应安装的版本。</translation>
    </message>
    <message>
        <source>Audiobook: M4B with chapters</source>
        <translation>有声书：带章节的 M4B</translation>
    </message>
    <message>
        <source>Audiobook: MP3 per chapter (ACX levels)</source>
        <translation>有声书：每章一个 MP3（ACX 电平）</translation>
    </message>
    <message>
        <source>Check that the file in the message is UTF-8 text and that you may read it.</source>
        <translation>请检查错误信息中的文件是否为 UTF-8 文本，以及是否有读取权限。</translation>
    </message>
    <message>
        <source>Check the file, or name another one.</source>
        <translation>请检查该文件，或指定另一个文件。</translation>
    </message>
    <message>
        <source>Choose another port, or end the program that uses this one.</source>
        <translation>换一个端口，或结束占用此端口的程序。</translation>
    </message>
    <message>
        <source>Choose the column, on the command line for example with --column text={example}.</source>
        <translation>请选择该列，在命令行中例如使用 --column text={example}。</translation>
    </message>
    <message>
        <source>Dub track: one 48 kHz WAV</source>
        <translation>配音音轨：一个 48 kHz WAV</translation>
    </message>
    <message>
        <source>Game: files in folders, with a manifest</source>
        <translation>游戏：分文件夹保存，附清单</translation>
    </message>
    <message>
        <source>Install them, in the folder of the source: {command}.</source>
        <translation>请在源代码文件夹中安装：{command}。</translation>
    </message>
    <message>
        <source>Install them: {command}.</source>
        <translation>请安装：{command}。</translation>
    </message>
    <message>
        <source>Installers do not contain them. Run the program from its source.</source>
        <translation>安装包中不包含这些组件。请从源代码运行本程序。</translation>
    </message>
    <message>
        <source>It is not clear which column of {name} contains the text. The columns are {columns}.</source>
        <translation>无法确定 {name} 的哪一列是文本。各列为：{columns}。</translation>
    </message>
    <message>
        <source>Missing in the book: {names}.</source>
        <translation>书中缺少：{names}。</translation>
    </message>
    <message>
        <source>Open it in a PDF viewer, and print it to a file without encryption.</source>
        <translation>请在 PDF 阅读器中打开，并打印为不加密的文件。</translation>
    </message>
    <message>
        <source>Placeholders are spoken as they are: {names}.</source>
        <translation>占位符会照原样朗读：{names}。</translation>
    </message>
    <message>
        <source>Podcast: one MP3, -16 LUFS</source>
        <translation>播客：单个 MP3，-16 LUFS</translation>
    </message>
    <message>
        <source>Row {number} of the sheet “{sheet}” of {name}: {reason}</source>
        <translation>{name} 的工作表“{sheet}”第 {number} 行：{reason}</translation>
    </message>
    <message>
        <source>The library c2pa-python, which verifies it, is not installed. The extra “provenance” contains it. {how}</source>
        <translation>有清单，但验证它的库 c2pa-python 未安装。可选组件“provenance”包含这个库。{how}</translation>
    </message>
    <message>
        <source>The token in {path} is shorter than {number} characters.</source>
        <translation>{path} 中的令牌少于 {number} 个字符。</translation>
    </message>
    <message>
        <source>Use a longer one, or delete the file to get a new token.</source>
        <translation>请使用更长的令牌，或删除该文件以生成新令牌。</translation>
    </message>
    <message>
        <source>Use a model of CosyVoice-300M, CosyVoice2 or Fun-CosyVoice3, or a newer version of the program.</source>
        <translation>请使用 CosyVoice-300M、CosyVoice2 或 Fun-CosyVoice3 的模型，或更新本程序。</translation>
    </message>
    <message>
        <source>Use letters, digits and signs, without spaces, on one line.</source>
        <translation>请只用字母、数字和符号，写在一行内，不含空格。</translation>
    </message>
    <message>
        <source>Video: 48 kHz WAV per line</source>
        <translation>视频：每行一个 48 kHz WAV</translation>
    </message>
    <message>
        <source>signal {number}</source>
        <translation>信号 {number}</translation>
    </message>
    <message>
        <source>some words sound like others</source>
        <translation>有词读错</translation>
    </message>
    <message>
        <source>speech recogniser, {folder}</source>
        <translation>语音识别模型，{folder}</translation>
    </message>
    <message>
        <source>status {status}</source>
        <translation>状态码 {status}</translation>
    </message>
    <message>
        <source>the connection was closed</source>
        <translation>连接已关闭</translation>
    </message>
    <message>
        <source>the device is gone</source>
        <translation>设备已断开</translation>
    </message>
    <message>
        <source>the disk is full</source>
        <translation>磁盘已满</translation>
    </message>
    <message>
        <source>the disk is read-only</source>
        <translation>磁盘是只读的</translation>
    </message>
    <message>
        <source>the disk reports a fault</source>
        <translation>磁盘出现故障</translation>
    </message>
    <message>
        <source>the end is cut off</source>
        <translation>结尾被截断</translation>
    </message>
    <message>
        <source>the end of “{text}” is cut off</source>
        <translation>“{text}”的结尾被截断</translation>
    </message>
    <message>
        <source>the file would be too large</source>
        <translation>文件过大</translation>
    </message>
    <message>
        <source>the folder is not empty</source>
        <translation>文件夹不为空</translation>
    </message>
    <message>
        <source>the installed {library} needs an NVIDIA driver of version 580 or later</source>
        <translation>已安装的 {library} 需要 580 或更高版本的 NVIDIA 驱动</translation>
    </message>
    <message>
        <source>the length is unusual for the text</source>
        <translation>时长与文本不符</translation>
    </message>
    <message>
        <source>the level differs from other takes of the voice</source>
        <translation>音量与此音色的其他音频不同</translation>
    </message>
    <message>
        <source>the link leads back to itself</source>
        <translation>链接指向自身</translation>
    </message>
    <message>
        <source>the name is not allowed there</source>
        <translation>该位置不允许使用此名称</translation>
    </message>
    <message>
        <source>the name is too long</source>
        <translation>名称太长</translation>
    </message>
    <message>
        <source>the quota of the disk is used up</source>
        <translation>磁盘配额已用完</translation>
    </message>
    <message>
        <source>the server has a shorter file</source>
        <translation>服务器上的文件更短</translation>
    </message>
    <message>
        <source>the server sent the wrong part of the file or a different version</source>
        <translation>服务器返回了其他位置或其他版本的内容</translation>
    </message>
    <message>
        <source>the sound has a DC offset</source>
        <translation>有直流偏移</translation>
    </message>
    <message>
        <source>the sound is clipped</source>
        <translation>有削波失真</translation>
    </message>
    <message>
        <source>the sound is duller or brighter than other takes of the voice</source>
        <translation>声音比此音色的其他音频更闷或更亮</translation>
    </message>
    <message>
        <source>the start is cut off</source>
        <translation>开头被截断</translation>
    </message>
    <message>
        <source>the start of “{text}” is cut off</source>
        <translation>“{text}”的开头被截断</translation>
    </message>
    <message>
        <source>the system does not permit it</source>
        <translation>系统不允许</translation>
    </message>
    <message>
        <source>the voice changes within the take</source>
        <translation>音色中途变化</translation>
    </message>
    <message>
        <source>the voice differs from its recording</source>
        <translation>音色与参考录音不符</translation>
    </message>
    <message>
        <source>there is a silence of {seconds:.1f} s</source>
        <translation>有 {seconds:.1f} 秒静音</translation>
    </message>
    <message>
        <source>there is noise</source>
        <translation>有噪声</translation>
    </message>
    <message>
        <source>there is not enough memory</source>
        <translation>内存不足</translation>
    </message>
    <message>
        <source>there is speech that is not in the text</source>
        <translation>有文本以外的语音</translation>
    </message>
    <message>
        <source>too many files are open</source>
        <translation>打开的文件太多</translation>
    </message>
    <message>
        <source>unknown: {names}</source>
        <translation>未知：{names}</translation>
    </message>
    <message>
        <source>vLLM cannot be used: {reason}.</source>
        <translation>无法使用 vLLM：{reason}。</translation>
    </message>
    <message>
        <source>vLLM ended ({reason}).</source>
        <translation>vLLM 已结束（{reason}）。</translation>
    </message>
    <message>
        <source>vLLM has no architecture with the relative positions of this language model</source>
        <translation>vLLM 没有采用此语言模型相对位置编码的架构</translation>
    </message>
    <message>
        <source>vLLM has no attention for heads of {size} channels</source>
        <translation>vLLM 不支持 {size} 通道的注意力头</translation>
    </message>
    <message>
        <source>vLLM is not installed (pip install &apos;timbre-studio[vllm]&apos;)</source>
        <translation>未安装 vLLM（可运行 pip install &apos;timbre-studio[vllm]&apos; 安装）</translation>
    </message>
    <message>
        <source>vLLM needs a C compiler and Python&apos;s headers (Debian: apt install gcc python3-dev)</source>
        <translation>vLLM 需要 C 编译器和 Python 头文件（Debian：apt install gcc python3-dev）</translation>
    </message>
    <message>
        <source>vLLM runs on Linux only</source>
        <translation>vLLM 只能在 Linux 上运行</translation>
    </message>
    <message>
        <source>vLLM {version} is too old; {oldest} is needed</source>
        <translation>vLLM {version} 太旧，需要 {oldest}</translation>
    </message>
    <message>
        <source>voices</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>words are missing</source>
        <translation>漏读</translation>
    </message>
    <message>
        <source>words are repeated</source>
        <translation>重复</translation>
    </message>
    <message>
        <source>{all}, {free} of it free</source>
        <translation>{all}，空闲 {free}</translation>
    </message>
    <message>
        <source>{build} Or choose cpu.</source>
        <translation>{build}也可以选择 cpu。</translation>
    </message>
    <message>
        <source>{count} of {total} lines need review.</source>
        <translation>共 {total} 行，其中 {count} 行需试听。</translation>
    </message>
    <message>
        <source>{engine} failed to open ({reason}) and will be rebuilt</source>
        <translation>{engine} 无法打开（{reason}），将重新构建</translation>
    </message>
    <message>
        <source>{engine} in {precision}</source>
        <translation>{engine}（{precision}）</translation>
    </message>
    <message>
        <source>{engine} was damaged on disk and will be rebuilt</source>
        <translation>磁盘上的 {engine} 已损坏，将重新构建</translation>
    </message>
    <message>
        <source>{file} already exists in {folder}. It is from another script or other lines, or was changed.</source>
        <translation>{folder} 中已有 {file}。它来自其他脚本或其他行，或已被修改。</translation>
    </message>
    <message>
        <source>{file} and {others} more files already exist in {folder}. They are from another script or other lines, or were changed.</source>
        <translation>{folder} 中已有 {file} 等文件（另有 {others} 个）。它们来自其他脚本或其他行，或已被修改。</translation>
    </message>
    <message>
        <source>{file} cannot be opened.</source>
        <translation>无法打开 {file}。</translation>
    </message>
    <message>
        <source>{file} cannot be read ({reason}).</source>
        <translation>无法读取 {file}（{reason}）。</translation>
    </message>
    <message>
        <source>{file} cannot be read as an archive ({reason}).</source>
        <translation>{file} 无法作为压缩包读取（{reason}）。</translation>
    </message>
    <message>
        <source>{file} cannot be read: it is truncated or damaged.</source>
        <translation>无法读取 {file}：文件不完整或已损坏。</translation>
    </message>
    <message>
        <source>{file} contains speech tokens that the model does not have.</source>
        <translation>{file} 含有该模型没有的语音 token。</translation>
    </message>
    <message>
        <source>{file} describes CosyVoice-300M-25Hz, an experiment with its own text vocabulary, which is not supported.</source>
        <translation>{file} 描述的是 CosyVoice-300M-25Hz：这是一个使用独立文本词表的实验模型，不受支持。</translation>
    </message>
    <message>
        <source>{file} describes a variant of {generation} with {text_tokens} text tokens, {token_rate} speech tokens per second and {sample_rate} Hz, which is not supported.</source>
        <translation>{file} 描述的是 {generation} 的一个变体（{text_tokens} 个文本 token、每秒 {token_rate} 个语音 token、{sample_rate} Hz），不受支持。</translation>
    </message>
    <message>
        <source>{file} describes an impossible network.</source>
        <translation>{file} 描述的网络无法构建。</translation>
    </message>
    <message>
        <source>{file} does not declare its encoding and is read as {encoding}, for example “{preview}”. If that is wrong, choose another encoding (--encoding), or save the file as UTF-8.</source>
        <translation>{file} 没有声明编码，已按 {encoding} 读取，例如“{preview}”。如果不对，请选择其他编码（--encoding），或将文件另存为 UTF-8。</translation>
    </message>
    <message>
        <source>{file} does not declare its encoding. It is probably {encoding} (“{preview}”), but may be {others}. If the text is wrong, choose another encoding (--encoding), or save the file as UTF-8.</source>
        <translation>{file} 没有声明编码。很可能是 {encoding}（“{preview}”），也可能是 {others}。如果文字不对，请选择其他编码（--encoding），或将文件另存为 UTF-8。</translation>
    </message>
    <message>
        <source>{file} has no sheet “{sheet}”.</source>
        <translation>{file} 中没有工作表“{sheet}”。</translation>
    </message>
    <message>
        <source>{file} holds no settings.</source>
        <translation>{file} 中没有设置。</translation>
    </message>
    <message>
        <source>{file} in {folder} is damaged.</source>
        <translation>{folder} 中的 {file} 已损坏。</translation>
    </message>
    <message>
        <source>{file} in {folder} is not a list of styles.</source>
        <translation>{folder} 中的 {file} 不是风格列表。</translation>
    </message>
    <message>
        <source>{file} is damaged: {what}.</source>
        <translation>{file} 已损坏：{what}。</translation>
    </message>
    <message>
        <source>{file} is far too large for a settings file.</source>
        <translation>{file} 过大，不是有效的设置文件。</translation>
    </message>
    <message>
        <source>{file} is larger than {most} MB.</source>
        <translation>{file} 大于 {most} MB。</translation>
    </message>
    <message>
        <source>{file} is missing from the model folder {folder}.</source>
        <translation>模型文件夹 {folder} 中缺少 {file}。</translation>
    </message>
    <message>
        <source>{file} is missing from the model folder.</source>
        <translation>模型文件夹中缺少 {file}。</translation>
    </message>
    <message>
        <source>{file} is missing from {folder}.</source>
        <translation>{folder} 中缺少 {file}。</translation>
    </message>
    <message>
        <source>{file} is not a SenseVoice network of the supported layout.</source>
        <translation>{file} 不是受支持格式的 SenseVoice 网络。</translation>
    </message>
    <message>
        <source>{file} is not a project of this program.</source>
        <translation>{file} 不是本程序的脚本文件。</translation>
    </message>
    <message>
        <source>{file} is not a voice file, or is damaged.</source>
        <translation>{file} 不是音色文件，或已损坏。</translation>
    </message>
    <message>
        <source>{file} is not a voice file.</source>
        <translation>{file} 不是音色文件。</translation>
    </message>
    <message>
        <source>{file} is not readable as yaml.</source>
        <translation>{file} 不是可读取的 YAML 文件。</translation>
    </message>
    <message>
        <source>{file} is not readable.</source>
        <translation>无法读取 {file}。</translation>
    </message>
    <message>
        <source>{file} lacks the value {key}.</source>
        <translation>{file} 缺少值 {key}。</translation>
    </message>
    <message>
        <source>{file} lacks {reason}.</source>
        <translation>{file} 缺少 {reason}。</translation>
    </message>
    <message>
        <source>{file} of a built engine cannot be read: {reason}.</source>
        <translation>无法读取已构建引擎的 {file}：{reason}。</translation>
    </message>
    <message>
        <source>{file} of {name} is damaged.</source>
        <translation>{name} 的 {file} 已损坏。</translation>
    </message>
    <message>
        <source>{file} was made by another version of the program.</source>
        <translation>{file} 由其他版本的程序生成。</translation>
    </message>
    <message>
        <source>{file} was written by a newer version of the program.</source>
        <translation>{file} 由更新版本的程序写入。</translation>
    </message>
    <message>
        <source>{folder} contains no recording with a text file of the same name.</source>
        <translation>{folder} 中没有带同名文本文件的录音。</translation>
    </message>
    <message>
        <source>{folder}, {used} used, {free} free</source>
        <translation>{folder}，已用 {used}，剩余 {free}</translation>
    </message>
    <message>
        <source>{format} does not support {sample_rate} Hz.</source>
        <translation>{format} 不支持 {sample_rate} Hz。</translation>
    </message>
    <message>
        <source>{gpu}; the installed PyTorch does not support {name}</source>
        <translation>{gpu}；已安装的 PyTorch 不支持 {name}</translation>
    </message>
    <message>
        <source>{gpu}; too old for TensorRT and ONNX Runtime on the GPU</source>
        <translation>{gpu}；版本过旧，无法在 GPU 上使用 TensorRT 和 ONNX Runtime</translation>
    </message>
    <message>
        <source>{host} does not accept the token.</source>
        <translation>{host} 不接受此令牌。</translation>
    </message>
    <message>
        <source>{host} does not run Triton.</source>
        <translation>{host} 上没有运行 Triton。</translation>
    </message>
    <message>
        <source>{host} is not a speech service.</source>
        <translation>{host} 不是语音服务。</translation>
    </message>
    <message>
        <source>{host} does not have the model (status {status}).</source>
        <translation>{host} 上没有该模型（状态码 {status}）。</translation>
    </message>
    <message>
        <source>{host} does not accept this host name.</source>
        <translation>{host} 不接受用这个主机名访问。</translation>
    </message>
    <message>
        <source>{host} supports neither the styles of this program nor voice conversion.</source>
        <translation>{host} 不支持本程序的风格，也不能转换录音。</translation>
    </message>
    <message>
        <source>{host} has no model of CosyVoice&apos;s Triton runtime.</source>
        <translation>{host} 上没有 CosyVoice 的 Triton 模型。</translation>
    </message>
    <message>
        <source>{host} has no speech model named {model}.</source>
        <translation>{host} 上没有可用于生成的模型 {model}。</translation>
    </message>
    <message>
        <source>{host} has several models.</source>
        <translation>{host} 上有多个模型。</translation>
    </message>
    <message>
        <source>{host} is busy.</source>
        <translation>{host} 正忙。</translation>
    </message>
    <message>
        <source>{host} presented a certificate that this computer does not trust ({reason}).</source>
        <translation>{host} 提供的证书不受本机信任（{reason}）。</translation>
    </message>
    <message>
        <source>{host} refuses the request: {reason}.</source>
        <translation>{host} 拒绝了请求：{reason}。</translation>
    </message>
    <message>
        <source>{host} runs Triton, which supports neither styles nor voice conversion.</source>
        <translation>{host} 运行的是 Triton，不支持风格，也不能转换录音。</translation>
    </message>
    <message>
        <source>{host} runs Triton, which needs a recording and its transcript; {voice} lacks one.</source>
        <translation>{host} 运行的是 Triton，需要录音及其参考文本；{voice} 缺少其中之一。</translation>
    </message>
    <message>
        <source>{host} runs an incompatible version ({reason}).</source>
        <translation>{host} 运行的版本与本机不兼容（{reason}）。</translation>
    </message>
    <message>
        <source>{host} sends audio that is not float32.</source>
        <translation>{host} 发送的音频不是 float32 格式。</translation>
    </message>
    <message>
        <source>{host} sent no audio.</source>
        <translation>{host} 没有发送音频。</translation>
    </message>
    <message>
        <source>{host} {how} in the middle of the line.</source>
        <translation>{host} 在生成途中{how}。</translation>
    </message>
    <message>
        <source>{library} does not support compute capability {c}</source>
        <translation>{library} 不支持计算能力 {c}</translation>
    </message>
    <message>
        <source>{library} is installed, but its libraries cannot be loaded</source>
        <translation>已安装 {library}，但无法加载其库文件</translation>
    </message>
    <message>
        <source>{library} is not installed</source>
        <translation>未安装 {library}</translation>
    </message>
    <message>
        <source>{library} is not installed (pip install &apos;timbre-studio[{extra}]&apos;)</source>
        <translation>未安装 {library}（pip install &apos;timbre-studio[{extra}]&apos;）</translation>
    </message>
    <message>
        <source>{missing} of {all} voices have no recording</source>
        <translation>{all} 个音色中有 {missing} 个没有录音</translation>
    </message>
    <message>
        <source>{model} is not available from {sources}.</source>
        <translation>{sources} 不提供 {model}。</translation>
    </message>
    <message>
        <source>{model}; it does not fit into the memory of {gpu}</source>
        <translation>{model}；{gpu} 的显存放不下此模型</translation>
    </message>
    <message>
        <source>{name} has no recording and works only with {own} models; the loaded model is a {generation} model.</source>
        <translation>{name} 没有录音，只能用于 {own} 模型；当前加载的是 {generation} 模型。</translation>
    </message>
    <message>
        <source>{name} has only features stored by a {own} model.</source>
        <translation>{name} 只有由 {own} 模型保存的特征。</translation>
    </message>
    <message>
        <source>{name} is encrypted, with AES.</source>
        <translation>{name} 已用 AES 加密。</translation>
    </message>
    <message>
        <source>{name} is not installed.</source>
        <translation>未安装 {name}。</translation>
    </message>
    <message>
        <source>{name}, {cores} cores ({logical} logical)</source>
        <translation>{name}，{cores} 个核心（{logical} 个逻辑核心）</translation>
    </message>
    <message>
        <source>{folder} cannot be written to ({reason}).</source>
        <translation>无法写入 {folder}（{reason}）。</translation>
    </message>
    <message>
        <source>Install ffmpeg (winget install ffmpeg) and start this program again.</source>
        <translation>请运行 winget install ffmpeg 安装 ffmpeg，然后重新启动本程序。</translation>
    </message>
    <message>
        <source>Install ffmpeg.</source>
        <translation>请安装 ffmpeg。</translation>
    </message>
    <message>
        <source>Install ffmpeg: brew install ffmpeg (https://brew.sh).</source>
        <translation>请运行 brew install ffmpeg 安装 ffmpeg（Homebrew 见 https://brew.sh）。</translation>
    </message>
    <message>
        <source>Install ffmpeg: {command}.</source>
        <translation>请运行 {command} 安装 ffmpeg。</translation>
    </message>
    <message>
        <source>Save it as WAV, FLAC or MP3; for m4a, mp4 and webm install ffmpeg.</source>
        <translation>请另存为 WAV、FLAC 或 MP3；读取 m4a、mp4 和 webm 需要安装 ffmpeg。</translation>
    </message>
    <message>
        <source>Timbre Studio {version}, {origin}, {system}</source>
        <translation>Timbre Studio {version}，{origin}，{system}</translation>
    </message>
    <message>
        <source>cannot be reached, or this computer is not connected to the internet</source>
        <translation>无法访问，或本机未连接互联网</translation>
    </message>
    <message>
        <source>{folder} is not a CosyVoice model folder: it has no cosyvoice*.yaml.</source>
        <translation>{folder} 不是 CosyVoice 模型文件夹：其中没有 cosyvoice*.yaml。</translation>
    </message>
    <message>
        <source>{folder}/{file} is missing.</source>
        <translation>缺少 {folder}/{file}。</translation>
    </message>
    <message>
        <source>{names} and {num_more} more</source>
        <translation>{names} 及另外 {num_more} 个</translation>
    </message>
    <message>
        <source>{names} or {last}</source>
        <translation>{names} 或 {last}</translation>
    </message>
    <message>
        <source>{path} cannot be opened ({reason}).</source>
        <translation>无法打开 {path}（{reason}）。</translation>
    </message>
    <message>
        <source>{path} cannot be read ({reason}).</source>
        <translation>无法读取 {path}（{reason}）。</translation>
    </message>
    <message>
        <source>{path} cannot be written ({reason}).</source>
        <translation>无法写入 {path}（{reason}）。</translation>
    </message>
    <message>
        <source>{path} is a folder, not a project.</source>
        <translation>{path} 是文件夹，不是脚本。</translation>
    </message>
    <message>
        <source>{path} is a folder.</source>
        <translation>{path} 是文件夹。</translation>
    </message>
    <message>
        <source>{path} is not an ordinary file.</source>
        <translation>{path} 不是普通文件。</translation>
    </message>
    <message>
        <source>{path} is write-protected.</source>
        <translation>{path} 已写保护。</translation>
    </message>
    <message>
        <source>{reason}; it is tried again at the next start</source>
        <translation>{reason}；下次启动时重试</translation>
    </message>
    <message>
        <source>{size:.0f} MB</source>
        <translation>{size:.0f} MB</translation>
    </message>
    <message>
        <source>{size:.1f} GB</source>
        <translation>{size:.1f} GB</translation>
    </message>
    <message>
        <source>{tag} is too long: a pause lasts at most {longest:g} seconds.</source>
        <translation>{tag} 太长：停顿最长 {longest:g} 秒。</translation>
    </message>
    <message>
        <source>{version} in {folder}</source>
        <translation>{version}，位于 {folder}</translation>
    </message>
    <message>
        <source>“{address}” is not the address of a server.</source>
        <translation>“{address}”不是有效的服务器地址。</translation>
    </message>
    <message>
        <source>“{syllable}” has no vowel.</source>
        <translation>“{syllable}”没有元音。</translation>
    </message>
    <message>
        <source>“{syllable}” is not a syllable in pinyin.</source>
        <translation>“{syllable}”不是拼音音节。</translation>
    </message>
    <message>
        <source>“{text}” is missing</source>
        <translation>漏读“{text}”</translation>
    </message>
    <message>
        <source>“{text}” is repeated</source>
        <translation>重复读“{text}”</translation>
    </message>
    <message>
        <source>“{text}” sounds like other words</source>
        <translation>“{text}”读得像其他词</translation>
    </message>
    <message>
        <source>“{typed}” alone would be read as a letter.</source>
        <translation>单独的“{typed}”会按字母朗读。</translation>
    </message>
    <message>
        <source>“{written}” has neither an alias nor a pronunciation.</source>
        <translation>“{written}”既没有替换文本，也没有读音。</translation>
    </message>
    <message>
        <source>Repair {path}, or remove it.</source>
        <translation>请修复或删除 {path}。</translation>
    </message>
    <message>
        <source>The default is used.</source>
        <translation>已改用默认值。</translation>
    </message>
    <message>
        <source>The old file is kept as {path}.</source>
        <translation>原文件已另存为 {path}。</translation>
    </message>
    <message>
        <source>The settings cannot be read ({reason}); the defaults are used.</source>
        <translation>无法读取设置（{reason}），已改用默认设置。</translation>
    </message>
    <message>
        <source>the server sent something else</source>
        <translation>服务器返回了其他内容</translation>
    </message>
    <message>
        <source>Use Python 3.{oldest} to 3.{newest}.</source>
        <translation>请使用 Python 3.{oldest} 至 3.{newest}。</translation>
    </message>
    <message>
        <source>Save it again with one or two channels.</source>
        <translation>请以单声道或立体声重新保存。</translation>
    </message>
    <message>
        <source>{file} has {channels} channels.</source>
        <translation>{file} 有 {channels} 个声道。</translation>
    </message>
    <message>
        <source>Your changes are not being saved. {reason} Changes that are only in memory: {count}.</source>
        <translation>更改尚未保存。{reason}仅保留在内存中的更改：{count} 处。</translation>
    </message>
    <message>
        <source>The settings of the model describe an impossible network ({reason}).</source>
        <translation>模型配置描述的网络无法构建（{reason}）。</translation>
    </message>
    <message>
        <source>Download the newer release of {generation}, whose settings are in {newer}.</source>
        <translation>请下载 {generation} 的新版本，其配置文件为 {newer}。</translation>
    </message>
    <message>
        <source>{file} describes the first release of {generation}, whose flow cannot stream.</source>
        <translation>{file} 描述的是 {generation} 的首个版本，其流匹配不支持流式生成。</translation>
    </message>
    <message>
        <source>Create it, or choose another folder.</source>
        <translation>请先创建该文件夹，或选择其他文件夹。</translation>
    </message>
    <message>
        <source>Free some space, or choose another folder.</source>
        <translation>请释放一些空间，或选择其他文件夹。</translation>
    </message>
    <message>
        <source>Repair the model first.</source>
        <translation>请先修复该模型。</translation>
    </message>
    <message>
        <source>The folder {folder} does not exist.</source>
        <translation>文件夹 {folder} 不存在。</translation>
    </message>
    <message>
        <source>Install the GPU build of PyTorch: https://pytorch.org/get-started/locally/.</source>
        <translation>请安装 GPU 版 PyTorch：https://pytorch.org/get-started/locally/。</translation>
    </message>
    <message>
        <source>Install the libraries listed in README.txt beside the program; `timbre --help` works without them.</source>
        <translation>请安装程序目录下 README.txt 列出的库；不安装也可使用 `timbre --help`。</translation>
    </message>
    <message>
        <source>Installers contain PyTorch for CPUs; packaging/run.py in the source installs the build for GPUs.</source>
        <translation>安装包自带 CPU 版 PyTorch；如需 GPU 版，请使用源代码中的 packaging/run.py 安装。</translation>
    </message>
    <message>
        <source>Run packaging/run.py once, which lists what is missing; `timbre --help` works without it.</source>
        <translation>请运行一次 packaging/run.py，查看缺少的内容；`timbre --help` 不受影响。</translation>
    </message>
    <message>
        <source>Run the set-up again (python3 packaging/run.py): it installs the GPU build of PyTorch.</source>
        <translation>请重新运行安装程序（python3 packaging/run.py），以安装 GPU 版 PyTorch。</translation>
    </message>
    <message>
        <source>{signal}, possibly out of memory</source>
        <translation>{signal}，可能是内存不足</translation>
    </message>
    <message>
        <source>pip or uv</source>
        <translation>pip 或 uv</translation>
    </message>
    <message>
        <source>source checkout</source>
        <translation>源代码</translation>
    </message>
    <message>
        <source>installer</source>
        <translation>安装包</translation>
    </message>
    <message>
        <source>Choose one of the files in it.</source>
        <translation>请选择其中的文件。</translation>
    </message>
    <message>
        <source>Export it again, for example as 16-bit WAV.</source>
        <translation>请重新导出，例如导出为 16 位 WAV。</translation>
    </message>
    <message>
        <source>A {suffix} file does not support a sample rate of {sample_rate} Hz.</source>
        <translation>{suffix} 文件不支持 {sample_rate} Hz 的采样率。</translation>
    </message>
    <message>
        <source>Check that it is connected and play again, or write to a file.</source>
        <translation>请检查设备是否已连接，然后重新播放，或改为写入文件。</translation>
    </message>
    <message>
        <source>Check the name and the permissions of the file.</source>
        <translation>请检查文件名和文件权限。</translation>
    </message>
    <message>
        <source>Choose a recording, or a video with an audio track.</source>
        <translation>请选择录音，或带有音轨的视频。</translation>
    </message>
    <message>
        <source>Connect a microphone, choose another, or create the voice from a file.</source>
        <translation>请连接麦克风、选择其他麦克风，或从文件创建音色。</translation>
    </message>
    <message>
        <source>Connect it or choose another, and record again.</source>
        <translation>请重新连接或选择其他麦克风，然后再次录音。</translation>
    </message>
    <message>
        <source>Connect speakers or headphones, or write to a file.</source>
        <translation>请连接扬声器或耳机，或改为写入文件。</translation>
    </message>
    <message>
        <source>Cut out the part you need and use that.</source>
        <translation>请截取需要的部分后使用。</translation>
    </message>
    <message>
        <source>Install it (Debian, Ubuntu: apt-get install libportaudio2), or create the voice from a file.</source>
        <translation>请安装 PortAudio（在 Debian 或 Ubuntu 上运行 apt-get install libportaudio2），或从文件创建音色。</translation>
    </message>
    <message>
        <source>Install it again, or save the audio as WAV, FLAC or MP3.</source>
        <translation>请重新安装 ffmpeg，或将音频另存为 WAV、FLAC 或 MP3。</translation>
    </message>
    <message>
        <source>No microphone is available ({reason}).</source>
        <translation>没有可用的麦克风（{reason}）。</translation>
    </message>
    <message>
        <source>No permission to read {path}.</source>
        <translation>没有读取 {path} 的权限。</translation>
    </message>
    <message>
        <source>Playback is not possible: the PortAudio library is missing.</source>
        <translation>无法播放：缺少 PortAudio 库。</translation>
    </message>
    <message>
        <source>Reading {suffix} files such as {file} needs ffmpeg, which is not installed.</source>
        <translation>读取 {file} 这类 {suffix} 文件需要 ffmpeg，但尚未安装。</translation>
    </message>
    <message>
        <source>Recording is not possible: the PortAudio library is missing.</source>
        <translation>无法录音：缺少 PortAudio 库。</translation>
    </message>
    <message>
        <source>Save it again at 48000 Hz.</source>
        <translation>请以 48000 Hz 的采样率重新保存。</translation>
    </message>
    <message>
        <source>Save the audio as WAV, FLAC or MP3 and add it again.</source>
        <translation>请将音频另存为 WAV、FLAC 或 MP3，再重新添加。</translation>
    </message>
    <message>
        <source>Save the audio to a file and use that.</source>
        <translation>请将音频保存为文件后使用。</translation>
    </message>
    <message>
        <source>The microphone was disconnected.</source>
        <translation>麦克风已断开。</translation>
    </message>
    <message>
        <source>ffmpeg, which reads {suffix} files, does not start ({reason}).</source>
        <translation>用于读取 {suffix} 文件的 ffmpeg 无法启动（{reason}）。</translation>
    </message>
    <message>
        <source>ffmpeg, which reads {suffix} files, stopped responding while reading {file}.</source>
        <translation>用于读取 {suffix} 文件的 ffmpeg 在读取 {file} 时停止响应。</translation>
    </message>
    <message>
        <source>{file} is longer than {longest:.0f} s.</source>
        <translation>{file} 超过 {longest:.0f} 秒。</translation>
    </message>
    <message>
        <source>{file} is not a readable audio file: it is damaged, or its format is unknown.</source>
        <translation>{file} 不是可读取的音频文件：文件已损坏，或格式未知。</translation>
    </message>
    <message>
        <source>{file} is truncated or damaged.</source>
        <translation>{file} 不完整或已损坏。</translation>
    </message>
    <message>
        <source>{how} Or save the audio as WAV, FLAC or MP3.</source>
        <translation>{how}或者将音频另存为 WAV、FLAC 或 MP3。</translation>
    </message>
    <message>
        <source>Connect it and play again.</source>
        <translation>请重新连接设备后再播放。</translation>
    </message>
    <message>
        <source>{file} contains invalid samples (NaN or infinity).</source>
        <translation>{file} 含有无效的采样值（NaN 或无穷大）。</translation>
    </message>
    <message>
        <source>{file} contains no audio.</source>
        <translation>{file} 中没有音频。</translation>
    </message>
    <message>
        <source>{file} has an invalid sample rate of {rate} Hz.</source>
        <translation>{file} 的采样率 {rate} Hz 无效。</translation>
    </message>
    <message>
        <source>{suffix} is not a supported audio format ({file}).</source>
        <translation>不支持的音频格式：{suffix}（{file}）。</translation>
    </message>
    <message>
        <source>{path} is a folder, not an audio file.</source>
        <translation>{path} 是文件夹，不是音频文件。</translation>
    </message>
    <message>
        <source>“{name}” is not a supported audio format.{did_you_mean}</source>
        <translation>“{name}”不是支持的音频格式。{did_you_mean}</translation>
    </message>
    <message>
        <source>An internal error occurred ({kind}: {reason}).</source>
        <translation>程序内部错误（{kind}：{reason}）。</translation>
    </message>
    <message>
        <source>Close other programs, use a shorter text or clip, or choose a lower precision.</source>
        <translation>请关闭其他程序，使用更短的文本或参考音频，或选择更低的精度。</translation>
    </message>
    <message>
        <source>Create the voice from a recording.</source>
        <translation>请用录音创建音色。</translation>
    </message>
    <message>
        <source>{file} contains no voices.</source>
        <translation>{file} 中没有音色。</translation>
    </message>
    <message>
        <source>The speech process ended unexpectedly ({how}).</source>
        <translation>语音进程意外结束（{how}）。</translation>
    </message>
    <message>
        <source>The speech process was closed.</source>
        <translation>语音进程已关闭。</translation>
    </message>
    <message>
        <source>There was not enough memory.</source>
        <translation>内存不足。</translation>
    </message>
    <message>
        <source>Try again. If it happens again, report it with the log.</source>
        <translation>请重试。如再次出现，请附上日志反馈。</translation>
    </message>
    <message>
        <source>Try again; it is restarted automatically.</source>
        <translation>请重试，语音进程会自动重启。</translation>
    </message>
    <message>
        <source>Try again; it is restarted automatically.{log}</source>
        <translation>请重试，语音进程会自动重启。{log}</translation>
    </message>
    <message>
        <source>before the request</source>
        <translation>在收到请求之前</translation>
    </message>
    <message>
        <source>could not be started: {reason}</source>
        <translation>无法启动：{reason}</translation>
    </message>
    <message>
        <source>{file} is not a plain file of voices: it is damaged, or runs code when opened.</source>
        <translation>{file} 不是普通的音色文件：文件已损坏，或打开时会执行代码。</translation>
    </message>
    <message>
        <source>{mend} `timbre doctor` shows details.</source>
        <translation>{mend}运行 `timbre doctor` 可查看详情。</translation>
    </message>
    <message>
        <source>A voice named {name} already exists.</source>
        <translation>已有名为 {name} 的音色。</translation>
    </message>
    <message>
        <source>Another program is using the voice library.</source>
        <translation>另一个程序正在使用音色库。</translation>
    </message>
    <message>
        <source>Ask its author for another file.</source>
        <translation>请向作者索取另一份文件。</translation>
    </message>
    <message>
        <source>Ask its author to export the voice again.</source>
        <translation>请作者重新导出该音色。</translation>
    </message>
    <message>
        <source>Check the microphone and record again.</source>
        <translation>请检查麦克风后重新录制。</translation>
    </message>
    <message>
        <source>Check the permissions of the file.</source>
        <translation>请检查文件的访问权限。</translation>
    </message>
    <message>
        <source>Choose another name, or remove that voice.</source>
        <translation>请换一个名称，或删除已有的音色。</translation>
    </message>
    <message>
        <source>Choose another voice, or add one with this name.</source>
        <translation>请选择其他音色，或添加同名音色。</translation>
    </message>
    <message>
        <source>The clip contains invalid samples (NaN or infinity).</source>
        <translation>参考音频含有无效的采样值（NaN 或无穷大）。</translation>
    </message>
    <message>
        <source>The clip contains only {seconds:.2f} s of speech; at least {least} s are needed, 3 to 10 s work best.</source>
        <translation>参考音频中的人声只有 {seconds:.2f} 秒；至少需要 {least} 秒，3 到 10 秒效果最佳。</translation>
    </message>
    <message>
        <source>The clip has a sample rate of {sample_rate} Hz; at least {lowest} Hz is needed.</source>
        <translation>参考音频的采样率为 {sample_rate} Hz；至少需要 {lowest} Hz。</translation>
    </message>
    <message>
        <source>The clip lasts only {seconds:.2f} s, which is too short.</source>
        <translation>参考音频只有 {seconds:.2f} 秒，时间过短。</translation>
    </message>
    <message>
        <source>The clip lasts {seconds:.1f} s; at most {longest:.0f} s can be used.</source>
        <translation>参考音频长 {seconds:.1f} 秒；最多可用 {longest:.0f} 秒。</translation>
    </message>
    <message>
        <source>The clip&apos;s samples reach {largest:.0f}; full scale is 1.</source>
        <translation>参考音频的采样值达到 {largest:.0f}，而满幅为 1。</translation>
    </message>
    <message>
        <source>The recording of {name} is missing.</source>
        <translation>缺少 {name} 的录音文件。</translation>
    </message>
    <message>
        <source>The voice library {path} cannot be used ({reason}).</source>
        <translation>无法使用音色库 {path}（{reason}）。</translation>
    </message>
    <message>
        <source>The voice library {path} is damaged ({reason}).</source>
        <translation>音色库 {path} 已损坏（{reason}）。</translation>
    </message>
    <message>
        <source>This voice has been deleted permanently.</source>
        <translation>此音色已永久删除。</translation>
    </message>
    <message>
        <source>Use 1 to {longest} characters, no slashes, and no dash or dot at the start.</source>
        <translation>请使用 1 到 {longest} 个字符，不含斜杠，且不以短横线或点开头。</translation>
    </message>
    <message>
        <source>Use a recording of better quality; converting the file does not help.</source>
        <translation>请使用音质更好的录音；转换文件格式没有帮助。</translation>
    </message>
    <message>
        <source>{count} of {total} files could not be imported.</source>
        <translation>{total} 个文件中有 {count} 个无法导入。</translation>
    </message>
    <message>
        <source>{file} contains no voice features.</source>
        <translation>{file} 中没有音色特征。</translation>
    </message>
    <message>
        <source>{file} contains something other than regular files.</source>
        <translation>{file} 中含有非普通文件。</translation>
    </message>
    <message>
        <source>{file} does not contain exactly one voice.</source>
        <translation>{file} 应只包含一个音色。</translation>
    </message>
    <message>
        <source>{file} has an invalid consent record.</source>
        <translation>{file} 中的授权信息无效。</translation>
    </message>
    <message>
        <source>{file} has an invalid name for its recording.</source>
        <translation>{file} 中的录音文件名无效。</translation>
    </message>
    <message>
        <source>{file} has an unreadable manifest.</source>
        <translation>无法读取 {file} 中的清单。</translation>
    </message>
    <message>
        <source>{file} has no valid {key}.</source>
        <translation>{file} 中缺少有效的 {key}。</translation>
    </message>
    <message>
        <source>{file} is damaged: its recording does not match its checksum.</source>
        <translation>{file} 已损坏：录音与校验和不符。</translation>
    </message>
    <message>
        <source>{file} is not in a model folder, and no model is selected.</source>
        <translation>{file} 不在模型文件夹中，也没有选择模型。</translation>
    </message>
    <message>
        <source>{file} is too large for a voice file.</source>
        <translation>{file} 过大，不是音色文件。</translation>
    </message>
    <message>
        <source>{file} unpacks to more than a voice file may contain.</source>
        <translation>{file} 解压后的大小超出音色文件的上限。</translation>
    </message>
    <message>
        <source>Cut out 3 to 10 s of continuous speech.</source>
        <translation>请截取 3 到 10 秒连续说话的片段。</translation>
    </message>
    <message>
        <source>Export it and import it under another name.</source>
        <translation>请导出后以其他名称导入。</translation>
    </message>
    <message>
        <source>Export the recording again, for example as 16-bit WAV.</source>
        <translation>请重新导出录音，例如导出为 16 位 WAV。</translation>
    </message>
    <message>
        <source>Move it away and add the voices again; their recordings are in the folder clips next to it.</source>
        <translation>请将其移走，然后重新添加音色；录音位于同目录的 clips 文件夹中。</translation>
    </message>
    <message>
        <source>No usable audio found in this folder.</source>
        <translation>此文件夹中没有可用的音频。</translation>
    </message>
    <message>
        <source>Select the model it was stored with, then import it again.</source>
        <translation>请选择保存时所用的模型，然后重新导入。</translation>
    </message>
    <message>
        <source>Temporary files cannot be written ({reason}).</source>
        <translation>无法写入临时文件（{reason}）。</translation>
    </message>
    <message>
        <source>Use recordings such as WAV, FLAC, MP3 or M4A files.</source>
        <translation>请使用 WAV、FLAC、MP3 或 M4A 等格式的录音。</translation>
    </message>
    <message>
        <source>“{name}” is not a valid voice name.</source>
        <translation>“{name}”不是有效的音色名称。</translation>
    </message>
    <message>
        <source>{names}: no usable audio found.</source>
        <translation>{names}：没有可用的音频。</translation>
    </message>
    <message>
        <source>{name} is a bundled voice and cannot be changed.</source>
        <translation>{name} 是内置音色，无法更改。</translation>
    </message>
    <message>
        <source>Add a tone or stress number, or use an alias.</source>
        <translation>请加上声调或重音数字，或改用替换文本。</translation>
    </message>
    <message>
        <source>Continue in that window, or close it.</source>
        <translation>请在该窗口中继续，或将其关闭。</translation>
    </message>
    <message>
        <source>Correct that row and import again.</source>
        <translation>请改正该行后重新导入。</translation>
    </message>
    <message>
        <source>Enter at most {longest} letters, without &lt;|.</source>
        <translation>请输入不超过 {longest} 个字符，且不含 &lt;|。</translation>
    </message>
    <message>
        <source>Enter one of them.</source>
        <translation>请至少填写一项。</translation>
    </message>
    <message>
        <source>Enter pinyin such as chong2 qing4, or ARPAbet such as W AY1 N D.</source>
        <translation>请输入拼音（如 chong2 qing4）或 ARPAbet（如 W AY1 N D）。</translation>
    </message>
    <message>
        <source>Enter the word as it appears in the text.</source>
        <translation>请按文本中的写法输入该词。</translation>
    </message>
    <message>
        <source>Enter the word without it.</source>
        <translation>请输入不带标签的词。</translation>
    </message>
    <message>
        <source>A dictionary word must have 1 to {longest} letters.</source>
        <translation>词语须为 1 到 {longest} 个字符。</translation>
    </message>
    <message>
        <source>A line cannot have both a style preset and an instruction.</source>
        <translation>一行不能同时使用预设风格和自定义指令。</translation>
    </message>
    <message>
        <source>A pronunciation must have 1 to 200 letters.</source>
        <translation>读音须为 1 到 200 个字符。</translation>
    </message>
    <message>
        <source>Repair the file, or start a new dictionary; the old one is kept.</source>
        <translation>请修复该文件，或新建词典；原文件会保留。</translation>
    </message>
    <message>
        <source>The audio of this take is not in the project.</source>
        <translation>脚本中找不到这条音频的数据。</translation>
    </message>
    <message>
        <source>The damaged file is kept as {path}.</source>
        <translation>损坏的文件已保留为 {path}。</translation>
    </message>
    <message>
        <source>The disk or its connection may be failing. Save to another location.</source>
        <translation>磁盘或其连接可能有故障，请保存到其他位置。</translation>
    </message>
    <message>
        <source>The models have no phone {token}, which “{typed}” requires.</source>
        <translation>“{typed}”需要音素 {token}，但模型不支持。</translation>
    </message>
    <message>
        <source>The pause {seconds:g} s is out of range.</source>
        <translation>停顿 {seconds:g} 秒超出范围。</translation>
    </message>
    <message>
        <source>Unsaved work is damaged and cannot be recovered: {reason}</source>
        <translation>未保存的内容已损坏，无法恢复：{reason}</translation>
    </message>
    <message>
        <source>it is truncated</source>
        <translation>文件不完整</translation>
    </message>
    <message>
        <source>table {name} is missing or different</source>
        <translation>表 {name} 缺失或不符</translation>
    </message>
    <message>
        <source>the audio of a take is incomplete</source>
        <translation>有一条音频的数据不完整</translation>
    </message>
    <message>
        <source>unexpected index {name}</source>
        <translation>有多余的索引 {name}</translation>
    </message>
    <message>
        <source>unexpected trigger {name}</source>
        <translation>有多余的触发器 {name}</translation>
    </message>
    <message>
        <source>unexpected view {name}</source>
        <translation>有多余的视图 {name}</translation>
    </message>
    <message>
        <source>{count} invalid values in this script were replaced by defaults: {names}.</source>
        <translation>此脚本中有 {count} 个无效值，已替换为默认值：{names}。</translation>
    </message>
    <message>
        <source>{file} contains nothing that can be spoken.</source>
        <translation>{file} 中没有可生成语音的内容。</translation>
    </message>
    <message>
        <source>{file} was changed by another program after it was opened.</source>
        <translation>{file} 打开后被其他程序修改过。</translation>
    </message>
    <message>
        <source>{name} is not a readable Word document.</source>
        <translation>{name} 不是可读取的 Word 文档。</translation>
    </message>
    <message>
        <source>{name} is not a readable table ({reason}).</source>
        <translation>{name} 不是可读取的表格（{reason}）。</translation>
    </message>
    <message>
        <source>{name} is password-protected or an old .doc file.</source>
        <translation>{name} 有密码保护，或是旧版 .doc 文件。</translation>
    </message>
    <message>
        <source>{name} is too large.</source>
        <translation>{name} 过大。</translation>
    </message>
    <message>
        <source>Choose one of {known}, or copy and paste the text.</source>
        <translation>请选择 {known} 格式的文件，或复制粘贴文本。</translation>
    </message>
    <message>
        <source>Import it in parts, for example by chapter.</source>
        <translation>请分多次导入，例如按章节。</translation>
    </message>
    <message>
        <source>Save it as .docx without a password.</source>
        <translation>请另存为不带密码的 .docx。</translation>
    </message>
    <message>
        <source>Save it as UTF-8 text, or copy and paste the text.</source>
        <translation>请另存为 UTF-8 文本，或复制粘贴文本。</translation>
    </message>
    <message>
        <source>Undo its removal, or speak the line again.</source>
        <translation>请撤销删除，或重新生成该行。</translation>
    </message>
    <message>
        <source>Use a backup, or the unsaved work offered when the program starts.</source>
        <translation>请使用备份，或启动程序时提供的未保存内容。</translation>
    </message>
    <message>
        <source>it contains text that is not UTF-8</source>
        <translation>其中含有非 UTF-8 文本</translation>
    </message>
    <message>
        <source>{file} is not a text file.</source>
        <translation>{file} 不是文本文件。</translation>
    </message>
    <message>
        <source>{path} was written but does not read back correctly.</source>
        <translation>{path} 已写入，但校验时内容不一致。</translation>
    </message>
    <message>
        <source>{suffix} cannot be imported ({file}).</source>
        <translation>无法导入 {suffix} 文件（{file}）。</translation>
    </message>
    <message>
        <source>“{written}” contains a tag. The dictionary does not change tags.</source>
        <translation>“{written}”含有标签，词典不会改动标签。</translation>
    </message>
    <message>
        <source>{problem} {remedy}</source>
        <translation>{problem}{remedy}</translation>
    </message>
    <message>
        <source>Check whether this network requires a login, or choose another source (Settings, Models).</source>
        <translation>请检查当前网络是否需要登录认证，或更换下载源（设置 › 模型）。</translation>
    </message>
    <message>
        <source>Choose a folder or an archive.</source>
        <translation>请选择文件夹或压缩包。</translation>
    </message>
    <message>
        <source>Choose an installed model.</source>
        <translation>请选择已安装的模型。</translation>
    </message>
    <message>
        <source>Choose another name if this is intended; otherwise download the model again.</source>
        <translation>如果这是有意修改的模型，请换一个名称；否则请重新下载。</translation>
    </message>
    <message>
        <source>Choose another name, or remove the existing model first.</source>
        <translation>请换一个名称，或先删除已有的模型。</translation>
    </message>
    <message>
        <source>{name} is being changed by another program or another window.</source>
        <translation>{name} 正被其他程序或窗口修改。</translation>
    </message>
    <message>
        <source>{name} is damaged: {files} must be repaired.</source>
        <translation>{name} 已损坏：需要修复 {files}。</translation>
    </message>
    <message>
        <source>{what} needs {needed} of disk space, but only {free} are free in {folder}.</source>
        <translation>{what} 需要 {needed} 磁盘空间，但 {folder} 仅剩 {free}。</translation>
    </message>
    <message>
        <source>“{endpoint}” is not a server address.</source>
        <translation>“{endpoint}”不是有效的服务器地址。</translation>
    </message>
    <message>
        <source>A model named {name} already exists.</source>
        <translation>已有名为 {name} 的模型。</translation>
    </message>
    <message>
        <source>Choose the folder that contains llm.pt, flow.pt and hift.pt, or an archive of it.</source>
        <translation>请选择包含 llm.pt、flow.pt 和 hift.pt 的文件夹，或其压缩包。</translation>
    </message>
    <message>
        <source>Copy or export it again as a zip or tar archive.</source>
        <translation>请重新复制，或重新导出为 zip 或 tar 压缩包。</translation>
    </message>
    <message>
        <source>Correct or remove the environment variable SSL_CERT_FILE.</source>
        <translation>请更正或删除环境变量 SSL_CERT_FILE。</translation>
    </message>
    <message>
        <source>Download it on the Models page (Ctrl+M) or with `timbre models install {name}`.</source>
        <translation>请在“模型”页面（Ctrl+M）下载，或运行 `timbre models install {name}`。</translation>
    </message>
    <message>
        <source>Downloaded data is kept. Start again to resume, or choose another source (Settings, Models).</source>
        <translation>已下载的内容会保留。重新开始即可继续下载，也可以更换下载源（设置 › 模型）。</translation>
    </message>
    <message>
        <source>Enter an address such as https://hf-mirror.com, or leave it empty.</source>
        <translation>请填写类似 https://hf-mirror.com 的地址，或留空。</translation>
    </message>
    <message>
        <source>Enter the user name and password in the system&apos;s proxy settings, then try again.</source>
        <translation>请在系统的代理设置中填写用户名和密码，然后重试。</translation>
    </message>
    <message>
        <source>Export the model again.</source>
        <translation>请重新导出该模型。</translation>
    </message>
    <message>
        <source>Free some space and start again; downloaded data is kept.</source>
        <translation>请释放一些空间后重新开始，已下载的内容会保留。</translation>
    </message>
    <message>
        <source>Install the model again, or import a complete copy.</source>
        <translation>请重新安装该模型，或导入完整的副本。</translation>
    </message>
    <message>
        <source>Remove the model, then import a complete copy.</source>
        <translation>请删除该模型，然后导入完整的副本。</translation>
    </message>
    <message>
        <source>Repair it on the Models page (Ctrl+M) or with `timbre models install {name}`.</source>
        <translation>请在“模型”页面（Ctrl+M）修复，或运行 `timbre models install {name}`。</translation>
    </message>
    <message>
        <source>Set HTTPS_PROXY to an address such as http://127.0.0.1:7890, or import the model from a folder.</source>
        <translation>请将 HTTPS_PROXY 设为类似 http://127.0.0.1:7890 的地址，或从文件夹导入模型。</translation>
    </message>
    <message>
        <source>The download of {file} differs from the published file: {why}.</source>
        <translation>下载的 {file} 与发布的文件不一致：{why}。</translation>
    </message>
    <message>
        <source>The model in {folder} is incomplete: {missing} is missing.</source>
        <translation>{folder} 中的模型不完整：缺少 {missing}。</translation>
    </message>
    <message>
        <source>The model {name} is not installed.</source>
        <translation>模型 {name} 未安装。</translation>
    </message>
    <message>
        <source>The program&apos;s list of models is damaged ({file}).</source>
        <translation>程序自带的模型列表已损坏（{file}）。</translation>
    </message>
    <message>
        <source>The trusted certificate file set on this computer cannot be used ({reason}).</source>
        <translation>本机设置的受信任证书文件无法使用（{reason}）。</translation>
    </message>
    <message>
        <source>This computer&apos;s proxy requires a login (status {status}).</source>
        <translation>本机的代理需要登录（状态码 {status}）。</translation>
    </message>
    <message>
        <source>Try again in a few minutes, or choose another source (Settings, Models).</source>
        <translation>请几分钟后重试，或更换下载源（设置 › 模型）。</translation>
    </message>
    <message>
        <source>Use letters, digits, spaces, dots, hyphens and underscores.</source>
        <translation>请使用字母、数字、空格、点、连字符和下划线。</translation>
    </message>
    <message>
        <source>Wait until it has finished, or cancel it there.</source>
        <translation>请等待其完成，或在原处取消。</translation>
    </message>
    <message>
        <source>Wait until it is finished, or choose another folder.</source>
        <translation>请等待其完成，或选择其他文件夹。</translation>
    </message>
    <message>
        <source>`timbre models list` lists all models.</source>
        <translation>运行 `timbre models list` 可列出所有模型。</translation>
    </message>
    <message>
        <source>cannot be reached through this computer&apos;s proxy</source>
        <translation>无法通过本机的代理连接</translation>
    </message>
    <message>
        <source>closed the connection</source>
        <translation>中断了连接</translation>
    </message>
    <message>
        <source>it is damaged or not an archive</source>
        <translation>已损坏或不是压缩包</translation>
    </message>
    <message>
        <source>its size is wrong</source>
        <translation>大小不符</translation>
    </message>
    <message>
        <source>its size or checksum is wrong</source>
        <translation>大小或校验和不符</translation>
    </message>
    <message>
        <source>presented a certificate that this computer does not trust ({reason})</source>
        <translation>提供的证书不受本机信任（{reason}）</translation>
    </message>
    <message>
        <source>stopped responding</source>
        <translation>没有响应</translation>
    </message>
    <message>
        <source>{file} at {place} differs from the release of {model} that this version supports.</source>
        <translation>{place} 上的 {file} 与本版本支持的 {model} 不一致。</translation>
    </message>
    <message>
        <source>{file} differs from the release {name}.</source>
        <translation>{file} 与发布的 {name} 不一致。</translation>
    </message>
    <message>
        <source>{file} of {model} is missing at {place}.</source>
        <translation>{place} 上缺少 {model} 的 {file}。</translation>
    </message>
    <message>
        <source>{file} was damaged after the export.</source>
        <translation>{file} 在导出后损坏。</translation>
    </message>
    <message>
        <source>{host} received too many requests from this computer (status {status}).</source>
        <translation>本机向 {host} 发出的请求过多（状态码 {status}）。</translation>
    </message>
    <message>
        <source>{host} refused the download (status {status}).</source>
        <translation>{host} 拒绝了下载请求（状态码 {status}）。</translation>
    </message>
    <message>
        <source>{host} restricts access to this model (status {status}).</source>
        <translation>{host} 限制了对该模型的访问（状态码 {status}）。</translation>
    </message>
    <message>
        <source>This computer&apos;s proxy type is not supported, or its address is wrong.</source>
        <translation>不支持本机的代理类型，或代理地址有误。</translation>
    </message>
    <message>
        <source>{name} is not supported by this version of the program.</source>
        <translation>当前版本暂不支持 {name}。</translation>
    </message>
    <message>
        <source>{name} is part of the program and cannot be removed.</source>
        <translation>{name} 是程序自带的模型，无法删除。</translation>
    </message>
    <message>
        <source>{path} does not contain a model: cosyvoice*.yaml is missing.</source>
        <translation>{path} 中没有模型：缺少 cosyvoice*.yaml。</translation>
    </message>
    <message>
        <source>{path} does not exist.</source>
        <translation>{path} 不存在。</translation>
    </message>
    <message>
        <source>{place} returned something other than a list of files.</source>
        <translation>{place} 返回的不是文件列表。</translation>
    </message>
    <message>
        <source>“{name}” cannot be used as a model name.</source>
        <translation>“{name}”不能用作模型名称。</translation>
    </message>
    <message>
        <source>The built engine cannot be stored ({reason}).</source>
        <translation>无法保存构建好的引擎（{reason}）。</translation>
    </message>
    <message>
        <source>There is no engine {names} for these stages.</source>
        <translation>这些阶段没有名为 {names} 的引擎。</translation>
    </message>
    <message>
        <source>another process is testing it</source>
        <translation>另一个进程正在测试</translation>
    </message>
    <message>
        <source>it failed {count} times and is not tried again automatically; last failure: {reason}</source>
        <translation>已失败 {count} 次，不再自动重试；最近一次失败：{reason}</translation>
    </message>
    <message>
        <source>it is not faster than float32 ({factor:.2f}×)</source>
        <translation>不比 float32 快（{factor:.2f} 倍）</translation>
    </message>
    <message>
        <source>it is slower: the engine in use is {best:.2f}× as fast</source>
        <translation>较慢：当前引擎的速度是其 {best:.2f} 倍</translation>
    </message>
    <message>
        <source>it is slower: {factor:.2f}× as fast as float32, the engine in use {best:.2f}×</source>
        <translation>较慢：速度为 float32 的 {factor:.2f} 倍，当前引擎为 {best:.2f} 倍</translation>
    </message>
    <message>
        <source>it made no progress for {seconds:.0f} s and was stopped</source>
        <translation>{seconds:.0f} 秒内没有进展，已停止</translation>
    </message>
    <message>
        <source>it needs {needed:.1f} GB of disk space, and {free:.1f} GB are free</source>
        <translation>需要 {needed:.1f} GB 磁盘空间，可用 {free:.1f} GB</translation>
    </message>
    <message>
        <source>it needs {needed:.1f} GB of memory, and {free:.1f} GB are available</source>
        <translation>需要 {needed:.1f} GB 内存，可用 {free:.1f} GB</translation>
    </message>
    <message>
        <source>it produces values that are not finite</source>
        <translation>计算结果出现无穷大或非数值</translation>
    </message>
    <message>
        <source>it runs on the CPU, and a GPU is in use</source>
        <translation>该引擎在 CPU 上运行，而当前使用显卡</translation>
    </message>
    <message>
        <source>its audio differs from float32 by {distance:.2f} dB, more than {limit:g} dB</source>
        <translation>音频与 float32 相差 {distance:.2f} dB，超过 {limit:g} dB</translation>
    </message>
    <message>
        <source>its output differs from float32 by {error:.2%}, more than {limit:.2%}</source>
        <translation>输出与 float32 相差 {error:.2%}，超过 {limit:.2%}</translation>
    </message>
    <message>
        <source>its process ended ({how})</source>
        <translation>其进程已退出（{how}）</translation>
    </message>
    <message>
        <source>no NVIDIA GPU is in use</source>
        <translation>未使用 NVIDIA 显卡</translation>
    </message>
    <message>
        <source>not enough memory for {engine} now</source>
        <translation>目前内存不足，无法使用 {engine}</translation>
    </message>
    <message>
        <source>only {agreement:.1%} of its tokens match, fewer than {limit:.0%}</source>
        <translation>仅 {agreement:.1%} 的 token 一致，低于 {limit:.0%}</translation>
    </message>
    <message>
        <source>the build was interrupted: the program was killed, or the computer was turned off</source>
        <translation>构建中断：程序被强制结束，或电脑已关机</translation>
    </message>
    <message>
        <source>the engine in use has not been measured yet</source>
        <translation>当前引擎尚未测速</translation>
    </message>
    <message>
        <source>the installed vLLM is built without GPU support</source>
        <translation>已安装的 vLLM 不支持 GPU</translation>
    </message>
    <message>
        <source>this processor has no fast {precision} arithmetic</source>
        <translation>此 CPU 不支持快速的 {precision} 运算</translation>
    </message>
    <message>
        <source>{engine} is not used now: {reason}</source>
        <translation>目前未使用 {engine}：{reason}</translation>
    </message>
    <message>
        <source>See the log {log}.</source>
        <translation>请查看日志 {log}。</translation>
    </message>
    <message>
        <source>There is not enough memory for vLLM: {free:.1f} GB are available.</source>
        <translation>内存不足，无法运行 vLLM：可用 {free:.1f} GB。</translation>
    </message>
    <message>
        <source>the Python in {variable} cannot be run ({reason})</source>
        <translation>无法运行 {variable} 指定的 Python（{reason}）</translation>
    </message>
    <message>
        <source>vLLM did not respond for {seconds:.0f} s and was stopped.</source>
        <translation>vLLM 超过 {seconds:.0f} 秒无响应，已停止。</translation>
    </message>
    <message>
        <source>vLLM did not start within {seconds:.0f} s and was stopped.</source>
        <translation>vLLM 未能在 {seconds:.0f} 秒内启动，已停止。</translation>
    </message>
    <message>
        <source>vLLM rejected the line ({reason}).</source>
        <translation>vLLM 拒绝处理该行（{reason}）。</translation>
    </message>
    <message>
        <source>Choose another name, or remove the other voice.</source>
        <translation>请换一个名称，或删除原有音色。</translation>
    </message>
    <message>
        <source>Choose float32 (Settings), or rebuild the engines.</source>
        <translation>请在设置中选择 float32，或重新构建引擎。</translation>
    </message>
    <message>
        <source>Choose its best ten seconds.</source>
        <translation>请选取其中最好的十秒。</translation>
    </message>
    <message>
        <source>Close other programs, choose a smaller model, or run it on the CPU.</source>
        <translation>请关闭其他程序、选用更小的模型，或改用 CPU 运行。</translation>
    </message>
    <message>
        <source>Connect one and choose it in the settings. Exporting files works without one.</source>
        <translation>请连接设备并在设置中选择。导出文件不需要音频设备。</translation>
    </message>
    <message>
        <source>Continue there, or close it there first.</source>
        <translation>请在该窗口中继续，或先将其关闭。</translation>
    </message>
    <message>
        <source>Copy or export it again. It must contain a cosyvoice*.yaml and the files beside it.</source>
        <translation>请重新复制或导出。其中须包含 cosyvoice*.yaml 及同目录下的文件。</translation>
    </message>
    <message>
        <source>Export it again from its original program.</source>
        <translation>请用原来的程序重新导出。</translation>
    </message>
    <message>
        <source>Export it again.</source>
        <translation>请重新导出。</translation>
    </message>
    <message>
        <source>Free disk space: the disk is almost full.</source>
        <translation>磁盘空间即将用尽，请清理。</translation>
    </message>
    <message>
        <source>Free disk space; existing files are kept.</source>
        <translation>请清理磁盘空间；已有文件不受影响。</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>Random models can only be created from a clone of the source.</source>
        <translation>只有在源码克隆中才能创建随机模型。</translation>
    </message>
    <message>
        <source>{gpu}, {memory} of memory, driver {driver}</source>
        <translation>{gpu}，显存 {memory}，驱动 {driver}</translation>
    </message>
    <message>
        <source>{gpu}; not usable by PyTorch</source>
        <translation>{gpu}；PyTorch 无法使用</translation>
    </message>
    <message>
        <source>{name} is bundled with the program and is not downloaded.</source>
        <translation>{name} 由程序自带，无需下载。</translation>
    </message>
    <message>
        <source>{name} is not a downloadable model.{did_you_mean}</source>
        <translation>{name} 不是可下载的模型。{did_you_mean}</translation>
    </message>
    <message>
        <source>{name}, which is bundled with the program, is missing.</source>
        <translation>缺少程序自带的 {name}。</translation>
    </message>
    <message>
        <source>{name} has no recording, only features stored by a {own} model; {model} is a {generation} model.</source>
        <translation>{name} 没有录音，只有 {own} 模型存储的特征；{model} 是 {generation} 模型。</translation>
    </message>
    <message>
        <source> Your voices: {names}.</source>
        <translation>现有音色：{names}。</translation>
    </message>
    <message>
        <source>--cast, --full-cast and --column are for texts and tables, not for projects.</source>
        <translation>--cast、--full-cast 和 --column 用于文本和表格，不用于 .timbre 脚本。</translation>
    </message>
    <message>
        <source>--raw needs -o -.</source>
        <translation>--raw 只能与 -o - 一起使用。</translation>
    </message>
    <message>
        <source>A CosyVoice model needs about 6 GB: close other programs before using one.</source>
        <translation>CosyVoice 模型约需 6 GB 内存，使用前请关闭其他程序。</translation>
    </message>
    <message>
        <source>A client of the speech service kept a connection open without sending anything.</source>
        <translation>语音服务的客户端保持连接，但没有发送任何内容。</translation>
    </message>
    <message>
        <source>A computer with the address {host} cannot join another one.</source>
        <translation>地址为 {host} 的电脑无法加入其他电脑。</translation>
    </message>
    <message>
        <source>A connection can have {number} speeches at once.</source>
        <translation>一个连接最多可同时进行 {number} 段语音。</translation>
    </message>
    <message>
        <source>A file of the model is missing from its folder.</source>
        <translation>模型文件夹中缺少文件。</translation>
    </message>
    <message>
        <source>A file or folder is not writable, is in use, or is on a read-only disk.</source>
        <translation>文件或文件夹不可写、正被占用，或位于只读磁盘上。</translation>
    </message>
    <message>
        <source>A message must be of the type “start”, “text”, “flush”, “end”, “cancel” or “ping”.</source>
        <translation>消息类型必须是“start”“text”“flush”“end”“cancel”或“ping”。</translation>
    </message>
    <message>
        <source>A network computed invalid numbers, usually in half precision.</source>
        <translation>网络计算出无效数值，多见于半精度。</translation>
    </message>
    <message>
        <source>A process that runs part of the model ended or does not respond.</source>
        <translation>运行部分模型的进程已结束或没有响应。</translation>
    </message>
    <message>
        <source>A pronunciation contains sounds that the models do not support.</source>
        <translation>读音中含有模型不支持的音。</translation>
    </message>
    <message>
        <source>A required library is missing or cannot be loaded.</source>
        <translation>缺少必需的库，或库无法加载。</translation>
    </message>
    <message>
        <source>A take or its audio is not in the project.</source>
        <translation>脚本中找不到这条音频或其数据。</translation>
    </message>
    <message>
        <source>A voice with that name exists already.</source>
        <translation>已有同名音色。</translation>
    </message>
    <message>
        <source>A weight file belongs to another or a modified model.</source>
        <translation>权重文件属于其他模型，或模型已被修改。</translation>
    </message>
    <message>
        <source>Add --consent NAME.</source>
        <translation>请加上 --consent 姓名。</translation>
    </message>
    <message>
        <source>Add it, or omit --raw.</source>
        <translation>请加上 -o -，或去掉 --raw。</translation>
    </message>
    <message>
        <source>Add the transcript to the voice, or choose another voice.</source>
        <translation>请为该音色补上参考文本，或选择其他音色。</translation>
    </message>
    <message>
        <source>Add the voice, or correct the name. `timbre voices list` lists the voices.</source>
        <translation>请添加该音色或更正名称。`timbre voices list` 可列出所有音色。</translation>
    </message>
    <message>
        <source>An error in the program itself.</source>
        <translation>程序内部错误。</translation>
    </message>
    <message>
        <source>An option or setting has an invalid value.</source>
        <translation>选项或设置的值无效。</translation>
    </message>
    <message>
        <source>Another engine is used. `timbre engines why` shows the cause.</source>
        <translation>将改用其他引擎。`timbre engines why` 可查看原因。</translation>
    </message>
    <message>
        <source>Another export is writing to the folder.</source>
        <translation>另一个导出任务正在写入该文件夹。</translation>
    </message>
    <message>
        <source>Another program has changed the project file.</source>
        <translation>脚本文件已被其他程序修改。</translation>
    </message>
    <message>
        <source>Check its address, that it is switched on, and that Triton runs there; or use this computer.</source>
        <translation>请检查地址是否正确、那台电脑是否开机、是否正在运行 Triton；也可以改用本机。</translation>
    </message>
    <message>
        <source>Check the address, and that its models are loaded.</source>
        <translation>请检查地址是否正确、模型是否已加载。</translation>
    </message>
    <message>
        <source>Check the connection and the proxy; choose the other source or a mirror. Downloaded data is kept.</source>
        <translation>请检查网络连接和代理，或更换下载源或镜像。已下载的内容会保留。</translation>
    </message>
    <message>
        <source>Check the name of the file.</source>
        <translation>请检查文件名。</translation>
    </message>
    <message>
        <source>Check the token, and that both computers have the same version of the program.</source>
        <translation>请检查令牌，并确认两台电脑上的程序版本相同。</translation>
    </message>
    <message>
        <source>Choose a number from 1 to {count}.</source>
        <translation>请选择 1 到 {count} 之间的编号。</translation>
    </message>
    <message>
        <source>Choose a text or document.</source>
        <translation>请选择文本或文档。</translation>
    </message>
    <message>
        <source>Choose a voice with a recording.</source>
        <translation>请选择带有录音的音色。</translation>
    </message>
    <message>
        <source>Choose a {own} model with --model, or create the voice from a recording.</source>
        <translation>请用 --model 选择 {own} 模型，或用录音创建音色。</translation>
    </message>
    <message>
        <source>Choose another cover, or remove it.</source>
        <translation>请选择其他封面，或移除封面。</translation>
    </message>
    <message>
        <source>Choose another model of the server.</source>
        <translation>请选择该服务器的其他模型。</translation>
    </message>
    <message>
        <source>Choose another port or token file; the message names what a cluster needs.</source>
        <translation>请换一个端口或令牌文件；集群所缺的条件见消息。</translation>
    </message>
    <message>
        <source>Choose another recogniser. `timbre models list` shows the languages of each.</source>
        <translation>请选择其他语音识别模型：`timbre models list` 会列出各模型支持的语言。</translation>
    </message>
    <message>
        <source>Choose another recording.</source>
        <translation>请选择其他录音。</translation>
    </message>
    <message>
        <source>Choose one of: {places}.{build}</source>
        <translation>请选择以下之一：{places}。{build}</translation>
    </message>
    <message>
        <source>Choose the default style, or use a model of this computer.</source>
        <translation>请选择默认风格，或改用本机的模型。</translation>
    </message>
    <message>
        <source>Connect again when there is something to send.</source>
        <translation>有内容要发送时请重新连接。</translation>
    </message>
    <message>
        <source>Correct or replace the file that the message names.</source>
        <translation>请修正或更换提示中所列的文件。</translation>
    </message>
    <message>
        <source>Describe the style in your own words, or use a model of this computer.</source>
        <translation>请用自己的话描述风格，或改用本机的模型。</translation>
    </message>
    <message>
        <source>Dub tracks: 48 kHz WAV per character</source>
        <translation>配音音轨：每个角色一个 48 kHz WAV</translation>
    </message>
    <message>
        <source>End one of them.</source>
        <translation>请先结束其中一段。</translation>
    </message>
    <message>
        <source>Enter a name or an address, such as 192.168.1.20:8807, https://voices.example.org or grpc://192.168.1.20:8001.</source>
        <translation>请输入主机名或地址，例如 192.168.1.20:8807、https://voices.example.org 或 grpc://192.168.1.20:8001。</translation>
    </message>
    <message>
        <source>Enter a table of at most {most} names.</source>
        <translation>请输入一个最多含 {most} 个名称的表。</translation>
    </message>
    <message>
        <source>Enter a table of names, each with a list of texts.</source>
        <translation>请输入一个表：每个名称对应一个文本列表。</translation>
    </message>
    <message>
        <source>Export WAV or FLAC instead.</source>
        <translation>请改为导出 WAV 或 FLAC。</translation>
    </message>
    <message>
        <source>Files are not signed: the library c2pa-python is not installed. The extra “provenance” contains the libraries. {how}</source>
        <translation>文件未签名：未安装 c2pa-python 库。所需的库在可选组件“provenance”中。{how}</translation>
    </message>
    <message>
        <source>Fragments of the text are missing.</source>
        <translation>文本缺少部分片段。</translation>
    </message>
    <message>
        <source>Give a recording or the name of a voice with --voice.</source>
        <translation>请用 --voice 指定录音或音色名称。</translation>
    </message>
    <message>
        <source>Give it the name of {known}.</source>
        <translation>请把它改成 {known} 的名称。</translation>
    </message>
    <message>
        <source>Give the model it was stored with: --model.</source>
        <translation>请用 --model 指定存储该音色时所用的模型。</translation>
    </message>
    <message>
        <source>If it is damaged, reinstall the program.</source>
        <translation>如已损坏，请重新安装程序。</translation>
    </message>
    <message>
        <source>Install PyTorch for CUDA 12.6 from {index}.</source>
        <translation>请从 {index} 安装 CUDA 12.6 版 PyTorch。</translation>
    </message>
    <message>
        <source>Install PyTorch for CUDA 13.0 from {index}.</source>
        <translation>请从 {index} 安装 CUDA 13.0 版 PyTorch。</translation>
    </message>
    <message>
        <source>Install the model, or correct the name or folder. `timbre models list` lists models.</source>
        <translation>请安装该模型，或更正名称或文件夹。`timbre models list` 可列出模型。</translation>
    </message>
    <message>
        <source>It is not clear which file of the project {file} replaces.</source>
        <translation>无法确定 {file} 要替换项目中的哪个文件。</translation>
    </message>
    <message>
        <source>It is not known who consents in {file}.</source>
        <translation>不知道 {file} 中是谁授权。</translation>
    </message>
    <message>
        <source>Large models are about as fast as real time on this processor.</source>
        <translation>在本机处理器上，大模型的速度约等于实时。</translation>
    </message>
    <message>
        <source>Large models are about {times} times slower than real time on this processor. Use exports, or the quality Draft while you write.</source>
        <translation>在本机处理器上，大模型生成 1 秒语音约需 {times} 秒。建议用导出方式生成；试听时可选“草稿”质量。</translation>
    </message>
    <message>
        <source>Large models are faster than real time on this processor.</source>
        <translation>在本机处理器上，大模型的速度快于实时。</translation>
    </message>
    <message>
        <source>Mix speakers of one model, such as those of CosyVoice-300M-SFT.</source>
        <translation>请混合同一个模型自带的音色，例如 CosyVoice-300M-SFT 的音色。</translation>
    </message>
    <message>
        <source>Name its address in the network.</source>
        <translation>请指定它在网络中的地址。</translation>
    </message>
    <message>
        <source>Name the file: timbre update PROJECT FILE.</source>
        <translation>请写明文件：timbre update PROJECT FILE。</translation>
    </message>
    <message>
        <source>No voice is given.{known}</source>
        <translation>未指定音色。{known}</translation>
    </message>
    <message>
        <source>Not exported: sounds and stage directions are not spoken.</source>
        <translation>不导出：音效和舞台提示不生成语音。</translation>
    </message>
    <message>
        <source>Other users can read the signing key {path}.</source>
        <translation>其他用户可以读取签名密钥 {path}。</translation>
    </message>
    <message>
        <source>Pipe it to a program, or redirect it to a file: timbre say … -o - | aplay</source>
        <translation>请通过管道交给其他程序，或重定向到文件：timbre say … -o - | aplay</translation>
    </message>
    <message>
        <source>Please send the report with the log.</source>
        <translation>请附上日志提交报告。</translation>
    </message>
    <message>
        <source>Prepared voices use up to 8 GB; with less space they are computed again.</source>
        <translation>音色缓存最多占用 8 GB；空间不足时会重新计算。</translation>
    </message>
    <message>
        <source>Record at 16 kHz or more; telephone quality is not enough.</source>
        <translation>请以 16 kHz 或更高的采样率录音，电话音质不够。</translation>
    </message>
    <message>
        <source>Record the speaker.</source>
        <translation>请录制说话人本人的声音。</translation>
    </message>
    <message>
        <source>Remove both (pip uninstall onnxruntime onnxruntime-gpu), then install one: onnxruntime-gpu for an NVIDIA GPU, otherwise onnxruntime.</source>
        <translation>请先运行 pip uninstall onnxruntime onnxruntime-gpu 卸载两者，再安装其中之一：有 NVIDIA 显卡则安装 onnxruntime-gpu，否则安装 onnxruntime。</translation>
    </message>
    <message>
        <source>Remove only added voices.</source>
        <translation>只能删除自己添加的音色。</translation>
    </message>
    <message>
        <source>Remove the file; another key is then made.</source>
        <translation>请删除该文件，程序会重新生成密钥。</translation>
    </message>
    <message>
        <source>Restore the library file from a backup, or add the recordings again.</source>
        <translation>请从备份恢复音色库文件，或重新添加录音。</translation>
    </message>
    <message>
        <source>Run `timbre doctor` for details, and set up the program again.</source>
        <translation>运行 `timbre doctor` 查看详情，并重新安装程序。</translation>
    </message>
    <message>
        <source>Run `timbre models verify --repair`, or choose Verify on the Models page (Ctrl+M).</source>
        <translation>请运行 `timbre models verify --repair`，或在“模型”页面（Ctrl+M）点击“校验”。</translation>
    </message>
    <message>
        <source>Run `timbre models verify --repair`; in a folder of your own, add the file.</source>
        <translation>请运行 `timbre models verify --repair`；如果是自己的文件夹，请补上该文件。</translation>
    </message>
    <message>
        <source>Run git lfs pull in its folder, or download the file.</source>
        <translation>在其文件夹中运行 git lfs pull，或下载该文件。</translation>
    </message>
    <message>
        <source>Run “ray get-auth-token --generate”, then “chmod 600 {path}”.</source>
        <translation>请运行“ray get-auth-token --generate”，再运行“chmod 600 {path}”。</translation>
    </message>
    <message>
        <source>Save only the state_dict of the network, or download the model from a source you trust.</source>
        <translation>只保存网络的 state_dict，或从可信来源下载模型。</translation>
    </message>
    <message>
        <source>Save under another name to keep both versions.</source>
        <translation>请另存为其他名称，以保留两者。</translation>
    </message>
    <message>
        <source>Set it to automatic (Settings, Speech and playback).</source>
        <translation>请在设置的“生成与播放”中改为自动。</translation>
    </message>
    <message>
        <source>Sheets that are not imported: {names}.</source>
        <translation>未导入的工作表：{names}。</translation>
    </message>
    <message>
        <source>Speak a line in the window first.</source>
        <translation>请先在窗口中生成一行。</translation>
    </message>
    <message>
        <source>Split it into lines, or use `timbre export`.</source>
        <translation>请拆分成多行，或使用 `timbre export`。</translation>
    </message>
    <message>
        <source>Stage directions are not spoken: {names}.</source>
        <translation>舞台提示不生成语音：{names}。</translation>
    </message>
    <message>
        <source>Standard output cannot contain both audio and JSON.</source>
        <translation>标准输出不能同时写入音频和 JSON。</translation>
    </message>
    <message>
        <source>Standard output is a terminal, which cannot show audio.</source>
        <translation>标准输出是终端，无法显示音频。</translation>
    </message>
    <message>
        <source>Subtitles whose times cannot be read are left out (line {numbers} of the file).</source>
        <translation>已略过无法读取时间的字幕（文件第 {numbers} 行）。</translation>
    </message>
    <message>
        <source>The archive is damaged, is not a zip or tar file, or contains no model.</source>
        <translation>压缩包已损坏、不是 zip 或 tar 文件，或其中没有模型。</translation>
    </message>
    <message>
        <source>The audio that a slow client has not read cannot be stored.</source>
        <translation>无法存储慢速客户端尚未读取的音频。</translation>
    </message>
    <message>
        <source>The body is not valid JSON at line {line}, column {column}: {reason}.</source>
        <translation>请求正文的第 {line} 行第 {column} 列不是有效的 JSON：{reason}。</translation>
    </message>
    <message>
        <source>The certificates {path} cannot be read ({reason}).</source>
        <translation>无法读取证书 {path}（{reason}）。</translation>
    </message>
    <message>
        <source>The chosen precision or device is not supported on this computer.</source>
        <translation>本机不支持所选的精度或设备。</translation>
    </message>
    <message>
        <source>The completion needs a library that is not installed ({reason}).</source>
        <translation>补全功能所需的库未安装（{reason}）。</translation>
    </message>
    <message>
        <source>The computer or its GPU has too little free memory.</source>
        <translation>内存或显存不足。</translation>
    </message>
    <message>
        <source>The consent of the speaker is required, but not recorded.</source>
        <translation>需要说话人的授权，但尚未记录。</translation>
    </message>
    <message>
        <source>The cover is a damaged image, and is left out.</source>
        <translation>封面图片已损坏，未导入。</translation>
    </message>
    <message>
        <source>The cover of the audiobook is not a readable JPEG or PNG image.</source>
        <translation>有声书的封面不是可读取的 JPEG 或 PNG 图片。</translation>
    </message>
    <message>
        <source>The disk is full, or a quota is used up.</source>
        <translation>磁盘已满，或配额已用尽。</translation>
    </message>
    <message>
        <source>The download source cannot be reached: no network, a proxy, or an untrusted certificate.</source>
        <translation>无法连接下载源：没有网络、代理有误，或证书不受信任。</translation>
    </message>
    <message>
        <source>The download source refuses the model: access denied, not found, or too many requests.</source>
        <translation>下载源拒绝提供模型：没有权限、模型不存在，或请求过于频繁。</translation>
    </message>
    <message>
        <source>The downloaded data is not the published file: a login page, a modified mirror, or damage in transit.</source>
        <translation>下载的内容与发布的文件不符：可能是登录页面、镜像被改动，或传输中损坏。</translation>
    </message>
    <message>
        <source>The field “text” must be a text.</source>
        <translation>字段“text”必须是文本。</translation>
    </message>
    <message>
        <source>The file contains values that are not audio.</source>
        <translation>文件中含有非音频数值。</translation>
    </message>
    <message>
        <source>The file is missing, is not audio, or has a format that needs ffmpeg.</source>
        <translation>文件不存在、不是音频，或其格式需要 ffmpeg 才能读取。</translation>
    </message>
    <message>
        <source>The file was changed after it was signed ({codes}).</source>
        <translation>文件在签名后被改动（{codes}）。</translation>
    </message>
    <message>
        <source>The first chunk (--first-hop) ends where exact streaming cannot split the audio.</source>
        <translation>首个分块（--first-hop）的结束位置无法用于精确的流式生成。</translation>
    </message>
    <message>
        <source>The folder contains a model of a generation that this version does not support.</source>
        <translation>文件夹中的模型属于本版本不支持的系列。</translation>
    </message>
    <message>
        <source>The key or certificate that signs files is damaged, has expired, or is readable by other users.</source>
        <translation>用于签名的密钥或证书已损坏、已过期，或其他用户可以读取。</translation>
    </message>
    <message>
        <source>The library c2pa-python could not add a signed manifest to a file.</source>
        <translation>c2pa-python 库无法为文件添加签名清单。</translation>
    </message>
    <message>
        <source>The manifest does not have the form of C2PA.</source>
        <translation>清单不符合 C2PA 格式。</translation>
    </message>
    <message>
        <source>The manifest, or the file, is damaged ({reason}).</source>
        <translation>清单或文件已损坏（{reason}）。</translation>
    </message>
    <message>
        <source>The message lists the valid values.</source>
        <translation>有效值见错误信息。</translation>
    </message>
    <message>
        <source>The model does not support that style or tag.</source>
        <translation>该模型不支持此风格或标签。</translation>
    </message>
    <message>
        <source>The model has no style with that name.</source>
        <translation>该模型没有此名称的风格。</translation>
    </message>
    <message>
        <source>The model has not learned the sound {tags}.</source>
        <translation>模型不支持声音标签 {tags}。</translation>
    </message>
    <message>
        <source>The model is not installed under that name, or the folder does not exist.</source>
        <translation>没有安装此名称的模型，或文件夹不存在。</translation>
    </message>
    <message>
        <source>The model stopped before it produced speech.</source>
        <translation>模型未生成任何语音就停止了。</translation>
    </message>
    <message>
        <source>The name is in use, is not a valid folder name, or belongs to a release with other contents.</source>
        <translation>该名称已被使用、不能用作文件夹名，或属于内容不同的发布版。</translation>
    </message>
    <message>
        <source>The name is not valid for a voice.</source>
        <translation>该名称不能用作音色名称。</translation>
    </message>
    <message>
        <source>The other computer answers, but not as a known speech service.</source>
        <translation>另一台电脑有应答，但不是可识别的语音服务。</translation>
    </message>
    <message>
        <source>The other computer refuses the request.</source>
        <translation>另一台电脑拒绝了请求。</translation>
    </message>
    <message>
        <source>The project file is missing, damaged, from a newer version, or not a project.</source>
        <translation>脚本文件不存在、已损坏、来自更新的版本，或不是脚本文件。</translation>
    </message>
    <message>
        <source>The recording and the text together exceed the capacity of the model.</source>
        <translation>录音与文本的总长度超出模型上限。</translation>
    </message>
    <message>
        <source>The recording contains no speech.</source>
        <translation>录音中没有语音。</translation>
    </message>
    <message>
        <source>The recording contains too little speech to clone a voice.</source>
        <translation>录音中的人声太少，不足以克隆音色。</translation>
    </message>
    <message>
        <source>The recording is longer than the model accepts.</source>
        <translation>录音超过模型允许的长度。</translation>
    </message>
    <message>
        <source>The recording is silent.</source>
        <translation>录音全是静音。</translation>
    </message>
    <message>
        <source>The recording of a consent contains the mark of synthetic speech.</source>
        <translation>授权录音带有合成语音的标记。</translation>
    </message>
    <message>
        <source>The sample rate of the recording is too low for the model.</source>
        <translation>录音的采样率低于模型的要求。</translation>
    </message>
    <message>
        <source>The script has no chapters, so all lines are in one.</source>
        <translation>脚本没有分章，所有行都在同一章中。</translation>
    </message>
    <message>
        <source>The service did not speak the test ({reason}).</source>
        <translation>服务未能生成测试语音（{reason}）。</translation>
    </message>
    <message>
        <source>The service is being stopped.</source>
        <translation>服务正在停止。</translation>
    </message>
    <message>
        <source>The signing key {path} cannot be used ({reason}).</source>
        <translation>无法使用签名密钥 {path}（{reason}）。</translation>
    </message>
    <message>
        <source>The speech process ended: it crashed, or the system ended it for lack of memory.</source>
        <translation>语音进程已结束：进程崩溃，或因内存不足被系统终止。</translation>
    </message>
    <message>
        <source>The speech service cannot listen on its address, its token file cannot be used, or no cluster runs.</source>
        <translation>语音服务无法监听该地址，令牌文件不可用，或没有集群在运行。</translation>
    </message>
    <message>
        <source>The speech service is being stopped or restarted.</source>
        <translation>语音服务正在停止或重启。</translation>
    </message>
    <message>
        <source>The speech “{name}” has been started already.</source>
        <translation>语音“{name}”已经开始。</translation>
    </message>
    <message>
        <source>The text contains nothing that can be spoken.</source>
        <translation>文本中没有可生成语音的内容。</translation>
    </message>
    <message>
        <source>The text is too long for one request.</source>
        <translation>文本太长，无法一次处理。</translation>
    </message>
    <message>
        <source>The token of Ray is missing in {path}.</source>
        <translation>{path} 中缺少 Ray 的令牌。</translation>
    </message>
    <message>
        <source>The vocabulary {file} is missing from the program.</source>
        <translation>程序缺少词表文件 {file}。</translation>
    </message>
    <message>
        <source>The vocabulary {file} of the program is damaged.</source>
        <translation>程序的词表文件 {file} 已损坏。</translation>
    </message>
    <message>
        <source>The voice file is damaged, or is not a voice file of this program.</source>
        <translation>音色文件已损坏，或不是本程序的音色文件。</translation>
    </message>
    <message>
        <source>The voice library cannot be read; the recordings still exist.</source>
        <translation>无法读取音色库；录音仍然保留。</translation>
    </message>
    <message>
        <source>The voice was stored without its recording, for another generation of models.</source>
        <translation>该音色没有保存录音，且属于另一系列的模型。</translation>
    </message>
    <message>
        <source>The window cannot be opened: no display is available.</source>
        <translation>无法打开窗口：没有可用的屏幕。</translation>
    </message>
    <message>
        <source>There is no speaker {number} in the recording.</source>
        <translation>录音中没有第 {number} 位说话人。</translation>
    </message>
    <message>
        <source>There is no voice or file with that name.</source>
        <translation>没有此名称的音色或文件。</translation>
    </message>
    <message>
        <source>This connection has no speech without a “context_id”.</source>
        <translation>此连接中没有不带“context_id”的语音。</translation>
    </message>
    <message>
        <source>This version of the program cannot send text as it arrives to this service.</source>
        <translation>此版本的程序无法向该服务逐段发送文本。</translation>
    </message>
    <message>
        <source>Try again in a moment.</source>
        <translation>请稍后重试。</translation>
    </message>
    <message>
        <source>Try again; it is restarted automatically. If it happens again, send the report and the worker&apos;s log.</source>
        <translation>请重试，语音进程会自动重启。如再次出现，请提交报告和语音进程的日志。</translation>
    </message>
    <message>
        <source>Update the program on the computer that sends it, or send the whole text.</source>
        <translation>请更新发送方电脑上的程序，或一次发送全部文本。</translation>
    </message>
    <message>
        <source>Use CosyVoice-300M, CosyVoice-300M-SFT or CosyVoice-300M-Instruct.</source>
        <translation>请使用 CosyVoice-300M、CosyVoice-300M-SFT 或 CosyVoice-300M-Instruct。</translation>
    </message>
    <message>
        <source>Use a CosyVoice-300M, CosyVoice2-0.5B or Fun-CosyVoice3-0.5B folder.</source>
        <translation>请使用 CosyVoice-300M、CosyVoice2-0.5B 或 Fun-CosyVoice3-0.5B 的文件夹。</translation>
    </message>
    <message>
        <source>Use a PEM file with a private key without a password, followed by its certificates.</source>
        <translation>请使用 PEM 文件：先是不带密码的私钥，后面是对应的证书。</translation>
    </message>
    <message>
        <source>Use a backup or update the program. The window offers to recover unsaved changes when it opens.</source>
        <translation>请使用备份或更新程序。打开窗口时可恢复未保存的更改。</translation>
    </message>
    <message>
        <source>Use a length that the message lists, or omit the option.</source>
        <translation>请使用错误信息中列出的长度，或不使用此选项。</translation>
    </message>
    <message>
        <source>Use a model of that generation, or create the voice from a recording.</source>
        <translation>请使用该系列的模型，或用录音创建音色。</translation>
    </message>
    <message>
        <source>Use a model that supports the language, or send “allow_unsupported_language”.</source>
        <translation>请换用支持该语言的模型，或在请求中加入 “allow_unsupported_language”。</translation>
    </message>
    <message>
        <source>Use the command line (`timbre --help`), or start the program on a desktop.</source>
        <translation>请使用命令行（`timbre --help`），或在桌面环境中启动程序。</translation>
    </message>
    <message>
        <source>Use three to ten seconds of one speaker.</source>
        <translation>请使用单人说话的录音，时长 3 到 10 秒。</translation>
    </message>
    <message>
        <source>WAV, FLAC, OGG and MP3 are supported; m4a, mp4 and webm are not</source>
        <translation>支持 WAV、FLAC、OGG 和 MP3；不支持 m4a、mp4 和 webm</translation>
    </message>
    <message>
        <source>Wait until it has finished, or choose another folder.</source>
        <translation>请等待其完成，或选择其他文件夹。</translation>
    </message>
    <message>
        <source>Wait until it has finished, or stop it there.</source>
        <translation>请等待其完成，或在原处停止。</translation>
    </message>
    <message>
        <source>Write it in pinyin or with the sounds that the dictionary offers.</source>
        <translation>请用拼音，或词典提供的音标书写。</translation>
    </message>
    <message>
        <source>Write it without a manifest, or use another certificate.</source>
        <translation>请不带清单写入，或改用其他证书。</translation>
    </message>
    <message>
        <source>Write the audio to a file, or omit --json.</source>
        <translation>请将音频写入文件，或去掉 --json。</translation>
    </message>
    <message>
        <source>Write the file without a manifest (--unsigned), or use another certificate.</source>
        <translation>请不带清单写入文件（--unsigned），或改用其他证书。</translation>
    </message>
    <message>
        <source>Write the words of the recording first.</source>
        <translation>请先写下录音中的文字。</translation>
    </message>
    <message>
        <source>`timbre engines why` explains failures, `timbre engines rebuild` tries again.</source>
        <translation>`timbre engines why` 可查看失败原因，`timbre engines rebuild` 可重试。</translation>
    </message>
    <message>
        <source>`timbre models list` lists them. For a folder or an archive use `timbre models import`.</source>
        <translation>`timbre models list` 可列出可下载的模型。文件夹或压缩包请用 `timbre models import`。</translation>
    </message>
    <message>
        <source>`timbre styles` lists the styles of a model.</source>
        <translation>`timbre styles` 可列出模型的风格。</translation>
    </message>
    <message>
        <source>all formats are supported (PyAV {version})</source>
        <translation>支持所有格式（PyAV {version}）</translation>
    </message>
    <message>
        <source>all formats are supported (ffmpeg {version})</source>
        <translation>支持所有格式（ffmpeg {version}）</translation>
    </message>
    <message>
        <source>audio formats</source>
        <translation>音频格式</translation>
    </message>
    <message>
        <source>built engines</source>
        <translation>已构建的引擎</translation>
    </message>
    <message>
        <source>cluster</source>
        <translation>集群</translation>
    </message>
    <message>
        <source>included in the program</source>
        <translation>已包含在程序中</translation>
    </message>
    <message>
        <source>installed</source>
        <translation>已安装</translation>
    </message>
    <message>
        <source>m4a, mp4 and webm are not supported: ffmpeg is installed but does not start</source>
        <translation>不支持 m4a、mp4 和 webm：已安装 ffmpeg，但无法启动</translation>
    </message>
    <message>
        <source>no NVIDIA GPU; running on the CPU</source>
        <translation>未检测到 NVIDIA 显卡，使用 CPU 运行</translation>
    </message>
    <message>
        <source>none yet; built while the program is idle, or by `timbre engines build`</source>
        <translation>暂无；程序空闲时自动构建，也可运行 `timbre engines build`</translation>
    </message>
    <message>
        <source>not installed. {how}</source>
        <translation>未安装。{how}</translation>
    </message>
    <message>
        <source>not tested</source>
        <translation>未测试</translation>
    </message>
    <message>
        <source>onnxruntime and onnxruntime-gpu are both installed and overwrite each other</source>
        <translation>同时安装了 onnxruntime 和 onnxruntime-gpu，两者会互相覆盖</translation>
    </message>
    <message>
        <source>recent errors</source>
        <translation>最近的错误</translation>
    </message>
    <message>
        <source>signed files</source>
        <translation>文件签名</translation>
    </message>
    <message>
        <source>sound device</source>
        <translation>音频设备</translation>
    </message>
    <message>
        <source>speech service</source>
        <translation>语音服务</translation>
    </message>
    <message>
        <source>speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>the default output works; {outputs} outputs, {inputs} inputs</source>
        <translation>默认输出设备正常；{outputs} 个输出，{inputs} 个输入</translation>
    </message>
    <message>
        <source>the precision in use was close enough to it when the model was loaded</source>
        <translation>加载模型时已对比，当前精度与其足够接近</translation>
    </message>
    <message>
        <source>{count} in the library</source>
        <translation>音色库中有 {count} 个</translation>
    </message>
    <message>
        <source>{count} of {total} lines failed; line {number}: {reason}</source>
        <translation>{total} 行中有 {count} 行失败；第 {number} 行：{reason}</translation>
    </message>
    <message>
        <source>{file} cannot be signed ({reason}).</source>
        <translation>无法为 {file} 签名（{reason}）。</translation>
    </message>
    <message>
        <source>{file} contains an object of the class {name}, which could run code when opened.</source>
        <translation>{file} 含有 {name} 类的对象，打开时可能运行代码。</translation>
    </message>
    <message>
        <source>{file} contains characters that are not UTF-8, and that are left out.</source>
        <translation>{file} 中有不是 UTF-8 的字符，已略去。</translation>
    </message>
    <message>
        <source>{file} contains no named tensors.</source>
        <translation>{file} 中没有命名张量。</translation>
    </message>
    <message>
        <source>{file} contains the mark of synthetic speech.</source>
        <translation>{file} 带有合成语音的标记。</translation>
    </message>
    <message>
        <source>{file} is a pointer of Git LFS, not the file itself.</source>
        <translation>{file} 只是 Git LFS 指针，不是文件本身。</translation>
    </message>
    <message>
        <source>{file} is not a novel: its lines already name their characters.</source>
        <translation>{file} 不是小说：其中各行已注明角色。</translation>
    </message>
    <message>
        <source>{file} is not a readable JPEG or PNG image of at most {size} MB.</source>
        <translation>{file} 不是 {size} MB 以内的可读 JPEG 或 PNG 图片。</translation>
    </message>
    <message>
        <source>{file} is not in a model folder.</source>
        <translation>{file} 不在模型文件夹中。</translation>
    </message>
    <message>
        <source>{first} and {second} cannot be mixed, because a recording is the voice of one speaker.</source>
        <translation>{first}和{second}无法混合，因为用录音克隆的音色只属于一个说话人。</translation>
    </message>
    <message>
        <source>{folder} is not writable</source>
        <translation>{folder} 不可写</translation>
    </message>
    <message>
        <source>See the Log tab for details.</source>
        <translation>详情见“日志”标签页。</translation>
    </message>
    <message>
        <source>Download the model again, or correct the file by hand.</source>
        <translation>请重新下载模型，或手动修正该文件。</translation>
    </message>
    <message>
        <source>In {file}, {key} multiplies a value that is not a number.</source>
        <translation>{file} 中，{key} 的乘数不是数字。</translation>
    </message>
    <message>
        <source>In {file}, {key} refers to {reference}, which does not exist.</source>
        <translation>{file} 中，{key} 引用的 {reference} 不存在。</translation>
    </message>
    <message>
        <source>Split the recording into shorter parts.</source>
        <translation>请将录音分成较短的几段。</translation>
    </message>
    <message>
        <source>The kernel for 8-bit weights cannot be compiled for this GPU ({reason}).</source>
        <translation>无法为此显卡编译 8 位权重的内核（{reason}）。</translation>
    </message>
    <message>
        <source>A chunk would end {beyond} tokens beyond the flow&apos;s grid of {grid} tokens.</source>
        <translation>有一个分块比流匹配的边界（{grid} 个 token）多出 {beyond} 个 token。</translation>
    </message>
    <message>
        <source>End chunks where the number of prompt and speech tokens is a multiple of it.</source>
        <translation>请在参考音频与语音的 token 总数为其整数倍处切分。</translation>
    </message>
    <message>
        <source>The recording lasts {seconds:.1f} s; the model reads at most {longest:.0f} s at a time.</source>
        <translation>录音长 {seconds:.1f} 秒；模型一次最多读取 {longest:.0f} 秒。</translation>
    </message>
    <message>
        <source>Voice clip and sentence together are {seconds:.0f} seconds; the model&apos;s limit is {longest}.</source>
        <translation>参考音频与句子共 {seconds:.0f} 秒；模型上限为 {longest} 秒。</translation>
    </message>
    <message>
        <source>of wrong shape: {names}</source>
        <translation>形状不符：{names}</translation>
    </message>
    <message>
        <source>{file} does not contain the network that its name indicates.</source>
        <translation>{file} 中的网络与文件名不符。</translation>
    </message>
    <message>
        <source>{file} contains tensors of an unsupported kind ({names}).</source>
        <translation>{file} 含有不支持的张量类型（{names}）。</translation>
    </message>
    <message>
        <source>{file} describes an unsupported model ({described}).</source>
        <translation>不支持 {file} 描述的模型（{described}）。</translation>
    </message>
    <message>
        <source>{file} describes far larger tensors than it contains.</source>
        <translation>{file} 声明的张量远大于实际内容。</translation>
    </message>
    <message>
        <source>{file} does not match the settings of its model folder ({complaints}).</source>
        <translation>{file} 与模型文件夹的设置不符（{complaints}）。</translation>
    </message>
    <message>
        <source>{file} is not a plain weight file: it is damaged, or would run code when opened.</source>
        <translation>{file} 不是纯权重文件：文件已损坏，或打开时会执行代码。</translation>
    </message>
    <message>
        <source>4-bit weights run on the CPU only.</source>
        <translation>4 位权重只能在 CPU 上运行。</translation>
    </message>
    <message>
        <source>Choose int8, bfloat16 or float16 for the GPU.</source>
        <translation>使用显卡时，请选择 int8、bfloat16 或 float16。</translation>
    </message>
    <message>
        <source>NVIDIA&apos;s run-time compiler NVRTC, which 8-bit weights on a GPU need, is not installed.</source>
        <translation>未安装在显卡上使用 8 位权重所需的 NVIDIA 运行时编译器 NVRTC。</translation>
    </message>
    <message>
        <source>Prompt, text and speech together are {tokens} tokens; the limit of the model is {most}.</source>
        <translation>参考音频、文本与语音共 {tokens} 个 token；模型上限为 {most} 个。</translation>
    </message>
    <message>
        <source>Reinstall PyTorch for CUDA, which includes it, or choose bfloat16 or float16.</source>
        <translation>请重新安装 CUDA 版 PyTorch（自带该编译器），或选择 bfloat16 或 float16。</translation>
    </message>
    <message>
        <source>This version of PyTorch does not support 4-bit weights.</source>
        <translation>此版本的 PyTorch 不支持 4 位权重。</translation>
    </message>
    <message>
        <source>Use shorter sentences or a shorter reference clip.</source>
        <translation>请使用更短的句子或参考音频。</translation>
    </message>
    <message>
        <source>This processor has no supported fast 8-bit arithmetic.</source>
        <translation>此 CPU 不支持快速的 8 位运算。</translation>
    </message>
    <message>
        <source>Correct it, or remove it from the model folder.</source>
        <translation>请修正该文件，或将其从模型文件夹中删除。</translation>
    </message>
    <message>
        <source>Divide it, for example into chapters.</source>
        <translation>请将文本拆分，例如按章节。</translation>
    </message>
    <message>
        <source>Reinstall the program.</source>
        <translation>请重新安装程序。</translation>
    </message>
    <message>
        <source>Unknown precision “{name}”.</source>
        <translation>未知的精度“{name}”。</translation>
    </message>
    <message>
        <source>Use {shortest}, or {shortest} plus a multiple of {grid}.</source>
        <translation>请使用 {shortest}，或 {shortest} 加 {grid} 的倍数。</translation>
    </message>
    <message>
        <source>{file} contains no readable voice features.</source>
        <translation>{file} 中没有可读取的音色特征。</translation>
    </message>
    <message>
        <source>Spell the word phonetically, or load a Fun-CosyVoice3 model.</source>
        <translation>请按读音改写该词，或加载 Fun-CosyVoice3 模型。</translation>
    </message>
    <message>
        <source>The list of styles for {generation} is missing.</source>
        <translation>缺少 {generation} 的风格列表。</translation>
    </message>
    <message>
        <source>The loaded model does not support pronunciation tokens such as {tokens}.</source>
        <translation>已加载的模型不支持 {tokens} 这样的读音标记。</translation>
    </message>
    <message>
        <source>The model ended the sentence without any speech.</source>
        <translation>模型未生成任何语音就结束了这一句。</translation>
    </message>
    <message>
        <source>Try again with another seed.</source>
        <translation>请换一个种子重试。</translation>
    </message>
    <message>
        <source>vocab.json and merges.txt in {folder} do not match.</source>
        <translation>{folder} 中的 vocab.json 与 merges.txt 不匹配。</translation>
    </message>
    <message>
        <source>{value} is not a valid value of “{setting}”.</source>
        <translation>{value} 不是“{setting}”的有效值。</translation>
    </message>
    <message>
        <source>Another export is writing to {folder}.</source>
        <translation>另一个导出任务正在写入 {folder}。</translation>
    </message>
    <message>
        <source>Choose another folder, or change its permissions.</source>
        <translation>请选择其他文件夹，或修改其权限。</translation>
    </message>
    <message>
        <source>Close each { with a }.</source>
        <translation>每个 { 都要有对应的 }。</translation>
    </message>
    <message>
        <source>Enter 1 to {longest} characters.</source>
        <translation>请输入 1 到 {longest} 个字符。</translation>
    </message>
    <message>
        <source>Free some space and export again; finished files are kept.</source>
        <translation>请释放一些空间后重新导出；已完成的文件会保留。</translation>
    </message>
    <message>
        <source>The settings file is damaged; the defaults are used.</source>
        <translation>设置文件已损坏，已使用默认值。</translation>
    </message>
    <message>
        <source>There is not enough memory to build {file}.</source>
        <translation>内存不足，无法构建 {file}。</translation>
    </message>
    <message>
        <source>With 8 bits the audio differs from float32 by {distortion:.2f} dB, more than {limit:g} dB.</source>
        <translation>使用 8 位时，音频与 float32 相差 {distortion:.2f} dB，超过 {limit:g} dB。</translation>
    </message>
    <message>
        <source>Another engine is used.</source>
        <translation>将改用其他引擎。</translation>
    </message>
    <message>
        <source>Another engine is used. A newer TensorRT may support it.</source>
        <translation>将改用其他引擎。更新的 TensorRT 版本可能支持。</translation>
    </message>
    <message>
        <source>Close other programs that use the GPU. A smaller engine is used instead.</source>
        <translation>请关闭其他占用 GPU 的程序。将改用较小的引擎。</translation>
    </message>
    <message>
        <source>TensorRT rejected the built engine {file}: {reason}.</source>
        <translation>TensorRT 拒绝加载构建好的引擎 {file}：{reason}。</translation>
    </message>
    <message>
        <source>The GPU does not have enough memory for the built engine {file}.</source>
        <translation>显存不足，无法加载构建好的引擎 {file}。</translation>
    </message>
    <message>
        <source>The built engine {file} does not support a sentence this long.</source>
        <translation>构建好的引擎 {file} 不支持这么长的句子。</translation>
    </message>
    <message>
        <source>Restart the program.</source>
        <translation>请重启程序。</translation>
    </message>
    <message>
        <source>Choose a folder for the files.</source>
        <translation>请选择保存文件的文件夹。</translation>
    </message>
    <message>
        <source>Write some text first.</source>
        <translation>请先输入文本。</translation>
    </message>
    <message>
        <source>Drop a recording on the window to create a voice.</source>
        <translation>将录音拖到窗口上即可创建音色。</translation>
    </message>
    <message>
        <source>No voice is available to play the word.</source>
        <translation>没有可用于试听的音色。</translation>
    </message>
    <message>
        <source>Remove one of the two entries.</source>
        <translation>请删除其中一条。</translation>
    </message>
    <message>
        <source>“{word}” is already in the dictionary.</source>
        <translation>词典中已有“{word}”。</translation>
    </message>
    <message>
        <source>Create the voice again from its recording.</source>
        <translation>请用录音重新创建该音色。</translation>
    </message>
    <message>
        <source>See the log for details, and please report it.</source>
        <translation>详情见日志；请报告此问题。</translation>
    </message>
    <message>
        <source>Wait a few minutes, or choose the other source or a mirror.</source>
        <translation>请等几分钟，或更换下载源或镜像。</translation>
    </message>
    <message>
        <source>it did not respond in time</source>
        <translation>响应超时</translation>
    </message>
    <message>
        <source>A model file is truncated, damaged, or not what its name suggests.</source>
        <translation>模型文件不完整、已损坏，或类型与文件名不符。</translation>
    </message>
    <message>
        <source>ONNX Runtime cannot use {device}: its CUDA libraries are missing or have the wrong version.</source>
        <translation>ONNX Runtime 无法使用 {device}：缺少它的 CUDA 库，或版本不符。</translation>
    </message>
    <message>
        <source>{good} verified, {refused} rejected, {failed} failed; {used} of at most {limit}</source>
        <translation>{good} 个已验证，{refused} 个未通过，{failed} 个失败；已用 {used}，上限 {limit}</translation>
    </message>
    <message>
        <source>The screen {name}, set by {variable}, cannot be reached.</source>
        <translation>无法连接 {variable} 所指的屏幕 {name}。</translation>
    </message>
    <message>
        <source>No screen is available to show the window on.</source>
        <translation>没有可用的屏幕，无法显示窗口。</translation>
    </message>
    <message>
        <source>No output device is available ({reason}).</source>
        <translation>没有可用的音频设备（{reason}）。</translation>
    </message>
    <message>
        <source>The output device does not respond.</source>
        <translation>音频设备无响应。</translation>
    </message>
    <message>
        <source>The output device plays far too slowly.</source>
        <translation>音频设备播放过慢。</translation>
    </message>
    <message>
        <source>The output device was disconnected during playback.</source>
        <translation>播放过程中音频设备已断开。</translation>
    </message>
    <message>
        <source>The output device {device} is not available ({reason}).</source>
        <translation>音频设备 {device} 不可用（{reason}）。</translation>
    </message>
    <message>
        <source>The output device keeps stuttering.</source>
        <translation>音频设备持续卡顿。</translation>
    </message>
    <message>
        <source>No output device is available, or it was disconnected.</source>
        <translation>没有可用的音频设备，或设备已断开。</translation>
    </message>
    <message>
        <source>Playback failed.</source>
        <translation>播放失败。</translation>
    </message>
    <message>
        <source>The log file contains the reason. Try again, or write to a file.</source>
        <translation>原因请查看日志文件。请重试，或改为写入文件。</translation>
    </message>
    <message>
        <source>Load a model and try again.</source>
        <translation>请先加载模型，然后重试。</translation>
    </message>
    <message>
        <source>The speech process has no model loaded.</source>
        <translation>语音进程尚未加载模型。</translation>
    </message>
    <message>
        <source>For a new recording, move closer to the microphone or raise its level.</source>
        <translation>重新录制时，请靠近麦克风或调高音量。</translation>
    </message>
    <message>
        <source>It contains almost no speech.</source>
        <translation>几乎没有人声。</translation>
    </message>
    <message>
        <source>It contains only {seconds:.1f} seconds of speech.</source>
        <translation>人声只有 {seconds:.1f} 秒。</translation>
    </message>
    <message>
        <source>It lasts {total:.1f} seconds, longer than a voice needs.</source>
        <translation>时长 {total:.1f} 秒，超过所需长度。</translation>
    </message>
    <message>
        <source>It lasts {total:.1f} seconds; the models accept at most 30.</source>
        <translation>时长 {total:.1f} 秒；模型最多支持 30 秒。</translation>
    </message>
    <message>
        <source>It sounds dull: there is almost nothing above {kilohertz:.1f} kHz.</source>
        <translation>声音发闷：{kilohertz:.1f} kHz 以上几乎没有信号。</translation>
    </message>
    <message>
        <source>It sounds like a telephone call: there is almost nothing above 4 kHz.</source>
        <translation>音质接近电话录音：4 kHz 以上几乎没有信号。</translation>
    </message>
    <message>
        <source>Move the handles to select 3 to 10 seconds.</source>
        <translation>请拖动选区边缘，选取 3 到 10 秒。</translation>
    </message>
    <message>
        <source>No clipping.</source>
        <translation>没有削波。</translation>
    </message>
    <message>
        <source>Record again at a lower level; clipping cannot be repaired well.</source>
        <translation>请调低音量重新录制；削波难以修复。</translation>
    </message>
    <message>
        <source>Record again, closer to the microphone or at a higher level.</source>
        <translation>请靠近麦克风或调高音量，重新录制。</translation>
    </message>
    <message>
        <source>Select 3 to 10 seconds: speech then starts sooner.</source>
        <translation>请选 3 到 10 秒，首音延迟会更低。</translation>
    </message>
    <message>
        <source>Select a longer part if possible: 3 to 10 seconds give a closer likeness.</source>
        <translation>请尽量选长一些：3 到 10 秒的录音更像本人。</translation>
    </message>
    <message>
        <source>Select a part with continuous speech; otherwise the voice may pause a lot.</source>
        <translation>请选择连续说话的片段，否则生成的语音可能停顿过多。</translation>
    </message>
    <message>
        <source>Select a part without clipping, or record again at a lower level.</source>
        <translation>请选择没有削波的片段，或调低音量重新录制。</translation>
    </message>
    <message>
        <source>Select a quieter part, or record in a quieter place: noise is cloned too.</source>
        <translation>请选择更安静的片段，或换个安静的地方录制：噪声也会被克隆。</translation>
    </message>
    <message>
        <source>Select another part, or record again closer to the microphone.</source>
        <translation>请另选一段，或靠近麦克风重新录制。</translation>
    </message>
    <message>
        <source>Some peaks are clipped.</source>
        <translation>部分峰值被削波。</translation>
    </message>
    <message>
        <source>The background is quiet.</source>
        <translation>背景安静。</translation>
    </message>
    <message>
        <source>The full frequency range is present.</source>
        <translation>高低频完整。</translation>
    </message>
    <message>
        <source>The level is good.</source>
        <translation>音量合适。</translation>
    </message>
    <message>
        <source>The level is low.</source>
        <translation>音量偏低。</translation>
    </message>
    <message>
        <source>The level is very low, so noise becomes part of the voice.</source>
        <translation>音量太低，噪声会混入音色。</translation>
    </message>
    <message>
        <source>The recording is distorted: its peaks are clipped.</source>
        <translation>录音失真：峰值被削波。</translation>
    </message>
    <message>
        <source>The sample rate is {rate:.0f} Hz; at least 16000 Hz is needed.</source>
        <translation>采样率为 {rate:.0f} Hz；至少需要 16000 Hz。</translation>
    </message>
    <message>
        <source>There are few pauses.</source>
        <translation>停顿很少。</translation>
    </message>
    <message>
        <source>There is loud noise, music or another voice in the background.</source>
        <translation>背景中有明显的噪声、音乐或其他人声。</translation>
    </message>
    <message>
        <source>There is some background noise.</source>
        <translation>有一些背景噪声。</translation>
    </message>
    <message>
        <source>Use a better copy of the recording if you have one.</source>
        <translation>如有音质更好的录音，请换用。</translation>
    </message>
    <message>
        <source>Use a recording made with a microphone; converting the file does not help.</source>
        <translation>请用麦克风重新录制；转换文件格式没有帮助。</translation>
    </message>
    <message>
        <source>Use a recording of this speaker alone: everything else is cloned too.</source>
        <translation>请使用只有此人说话的录音：其他人声和音乐也会被克隆。</translation>
    </message>
    <message>
        <source>{host} sends audio that is not 16-bit mono.</source>
        <translation>{host} 发送的音频不是 16 位单声道。</translation>
    </message>
    <message>
        <source>{model}; on {gpu}, beside a prompt of {prompt} s, lines of up to about {reduced:.0f} s fit in 16 bits, {exact:.0f} s in float32</source>
        <translation>{model}；在 {gpu} 上，参考音频为 {prompt} 秒时，单条台词最长约 {reduced:.0f} 秒（16 位）或 {exact:.0f} 秒（float32）</translation>
    </message>
    <message>
        <source>{names} and {count} more</source>
        <translation>{names}，另有 {count} 项</translation>
    </message>
    <message>
        <source>{name} has no recording to repair.</source>
        <translation>{name} 没有可修复的录音。</translation>
    </message>
    <message>
        <source>{name} is a bundled voice and cannot be removed.</source>
        <translation>{name} 是内置音色，无法删除。</translation>
    </message>
    <message>
        <source>{number} requests are waiting already.</source>
        <translation>已有 {number} 个请求在排队。</translation>
    </message>
    <message>
        <source>{path} has no columns named file and text.</source>
        <translation>{path} 没有名为 file 和 text 的列。</translation>
    </message>
    <message>
        <source>{program} Alternatively: {command}.</source>
        <translation>{program}也可以：{command}。</translation>
    </message>
    <message>
        <source>{project} was imported from {count} known files.</source>
        <translation>{project} 记录了 {count} 个导入的文件。</translation>
    </message>
    <message>
        <source>{seconds:.1f} s of speech.</source>
        <translation>语音 {seconds:.1f} 秒。</translation>
    </message>
    <message>
        <source>{seconds:.1f} s: {problem}</source>
        <translation>{seconds:.1f} 秒：{problem}</translation>
    </message>
    <message>
        <source>Columns kept but not used: {names}.</source>
        <translation>以下列已保留但未使用：{names}。</translation>
    </message>
    <message>
        <source>Import a copy without protection.</source>
        <translation>请导入没有保护的副本。</translation>
    </message>
    <message>
        <source>Recognise its text with an OCR program first.</source>
        <translation>请先用 OCR 软件识别其中的文字。</translation>
    </message>
    <message>
        <source>Save a copy without a password.</source>
        <translation>请另存一份不带密码的副本。</translation>
    </message>
    <message>
        <source>Save it again as .xlsx without a password, or as CSV.</source>
        <translation>请重新另存为不带密码的 .xlsx，或另存为 CSV。</translation>
    </message>
    <message>
        <source>Save it again as EPUB, or as text.</source>
        <translation>请重新另存为 EPUB 或文本。</translation>
    </message>
    <message>
        <source>Save it again as PDF, or copy and paste the text.</source>
        <translation>请重新另存为 PDF，或复制粘贴其中的文字。</translation>
    </message>
    <message>
        <source>Set an end after the start.</source>
        <translation>请让结束时间晚于开始时间。</translation>
    </message>
    <message>
        <source>The audiobook cannot be encoded ({reason}).</source>
        <translation>无法编码有声书（{reason}）。</translation>
    </message>
    <message>
        <source>The fade in seconds</source>
        <translation>淡入淡出（秒）</translation>
    </message>
    <message>
        <source>The pause in seconds</source>
        <translation>停顿（秒）</translation>
    </message>
    <message>
        <source>The seed</source>
        <translation>随机种子</translation>
    </message>
    <message>
        <source>The speed</source>
        <translation>语速</translation>
    </message>
    <message>
        <source>The time {start:g} s to {end:g} s is out of order.</source>
        <translation>时间 {start:g} 秒至 {end:g} 秒的先后顺序不对。</translation>
    </message>
    <message>
        <source>The volume in decibels</source>
        <translation>音量（分贝）</translation>
    </message>
    <message>
        <source>Writing audiobooks (.m4b) needs ffmpeg, which is not installed.</source>
        <translation>导出有声书（.m4b）需要 ffmpeg，但尚未安装。</translation>
    </message>
    <message>
        <source>{how} Or export WAV, FLAC or MP3.</source>
        <translation>{how}也可以导出 WAV、FLAC 或 MP3。</translation>
    </message>
    <message>
        <source>{name} contains images of text only.</source>
        <translation>{name} 中只有文字图片，没有可读取的文字。</translation>
    </message>
    <message>
        <source>{name} is copy-protected.</source>
        <translation>{name} 有版权保护。</translation>
    </message>
    <message>
        <source>{name} is not a readable EPUB book.</source>
        <translation>{name} 不是可读取的 EPUB 电子书。</translation>
    </message>
    <message>
        <source>{name} is not a readable Excel workbook.</source>
        <translation>{name} 不是可读取的 Excel 工作簿。</translation>
    </message>
    <message>
        <source>{name} is not a readable PDF file.</source>
        <translation>{name} 不是可读取的 PDF 文件。</translation>
    </message>
    <message>
        <source>{name} is password-protected.</source>
        <translation>{name} 设有密码。</translation>
    </message>
    <message>
        <source>{what} is out of range: {value}.</source>
        <translation>{what}超出范围：{value}。</translation>
    </message>
    <message>
        <source>Choose {least:g} to 1 for the slowest and 1 to {most:g} for the fastest speed.</source>
        <translation>最慢语速请选 {least:g} 到 1，最快语速请选 1 到 {most:g}。</translation>
    </message>
    <message>
        <source>The speed limits {slowest:g} and {fastest:g} are out of range.</source>
        <translation>语速范围 {slowest:g} 到 {fastest:g} 超出允许值。</translation>
    </message>
    <message>
        <source>“{name}” is not a known standard.</source>
        <translation>未知的标准“{name}”。</translation>
    </message>
    <message>
        <source>Free some space, or choose a folder on another disk or a smaller audio format.</source>
        <translation>请释放一些空间、选择其他磁盘上的文件夹，或改用更小的音频格式。</translation>
    </message>
    <message>
        <source>Locked lines are not spoken.</source>
        <translation>已锁定的行不会生成语音。</translation>
    </message>
    <message>
        <source>Other lines have the same file name; a number is added to these.</source>
        <translation>与其他行的文件名相同，已加上编号。</translation>
    </message>
    <message>
        <source>The export needs about {needed:.0f} MB, but only {free:.0f} MB are free in {folder}.</source>
        <translation>导出约需 {needed:.0f} MB，但 {folder} 只剩 {free:.0f} MB 可用空间。</translation>
    </message>
    <message>
        <source>Spoken without their style: the model does not support it.</source>
        <translation>模型不支持该风格，这些行将以默认风格生成。</translation>
    </message>
    <message>
        <source>Changed but locked: the earlier take is exported.</source>
        <translation>这些行已锁定，内容虽有改动，仍使用原来的录音。</translation>
    </message>
    <message>
        <source>Unlock or skip them.</source>
        <translation>请解除锁定或跳过这些行。</translation>
    </message>
    <message>
        <source>Undo any changes to the YAML file, or repair the model.</source>
        <translation>请撤销对 YAML 文件的修改，或修复模型。</translation>
    </message>
    <message>
        <source>The model&apos;s YAML file lacks a value or contains an invalid one.</source>
        <translation>模型的 YAML 文件缺少某个值，或含有无效的值。</translation>
    </message>
    <message>
        <source>The two tensors that make up the weight of {layer} in {file} do not match.</source>
        <translation>{file} 中组成 {layer} 权重的两个张量不匹配。</translation>
    </message>
    <message>
        <source>This processor does not support multiplication in {precision}.</source>
        <translation>此 CPU 不支持 {precision} 乘法。</translation>
    </message>
    <message>
        <source>Close other programs, or split the sentence.</source>
        <translation>请关闭其他程序，或拆分这句话。</translation>
    </message>
    <message>
        <source>Cantonese</source>
        <translation>粤语</translation>
    </message>
    <message>
        <source>Chinese</source>
        <translation>中文</translation>
    </message>
    <message>
        <source>English</source>
        <translation>英语</translation>
    </message>
    <message>
        <source>French</source>
        <translation>法语</translation>
    </message>
    <message>
        <source>German</source>
        <translation>德语</translation>
    </message>
    <message>
        <source>Italian</source>
        <translation>意大利语</translation>
    </message>
    <message>
        <source>Japanese</source>
        <translation>日语</translation>
    </message>
    <message>
        <source>Korean</source>
        <translation>韩语</translation>
    </message>
    <message>
        <source>Russian</source>
        <translation>俄语</translation>
    </message>
    <message>
        <source>Spanish</source>
        <translation>西班牙语</translation>
    </message>
    <message>
        <source>Speech in another language is unintelligible. Use a model that supports it, or speak the line anyway.</source>
        <translation>用它朗读其他语言会含糊不清。请换用支持该语言的模型，或选择“仍然生成”。</translation>
    </message>
    <message>
        <source>The model has not learned the language of the text, so its speech would be unintelligible.</source>
        <translation>模型不支持文本的语言，朗读会含糊不清。</translation>
    </message>
    <message>
        <source>Use a model that supports the language (Ctrl+M lists them), or speak the line anyway.</source>
        <translation>请换用支持该语言的模型（按 Ctrl+M 查看），或选择“仍然生成”。</translation>
    </message>
    <message>
        <source>{model} speaks {languages} only.</source>
        <translation>{model} 仅支持{languages}。</translation>
    </message>
    <message>
        <source>Enter a list of at most {most} texts.</source>
        <translation>请输入最多包含 {most} 项文本的列表。</translation>
    </message>
    <message>
        <source>Choose a file per line or per chapter, a joined file, or an audiobook.</source>
        <translation>请选择每行一个文件、每章一个文件、合并文件或有声书。</translation>
    </message>
    <message>
        <source>Choose another image, or save it as JPEG.</source>
        <translation>请选择其他图片，或将其另存为 JPEG。</translation>
    </message>
    <message>
        <source>Choose another image.</source>
        <translation>请选择其他图片。</translation>
    </message>
    <message>
        <source>The cover {path} cannot be read ({reason}).</source>
        <translation>无法读取封面 {path}（{reason}）。</translation>
    </message>
    <message>
        <source>Chapters cannot be exported at the original times.</source>
        <translation>章节无法按原始时间导出。</translation>
    </message>
    <message>
        <source>Export the chapters on their own.</source>
        <translation>请单独导出章节。</translation>
    </message>
    <message>
        <source>Export at the original times, or one file.</source>
        <translation>请按原始时间导出，或只导出一个文件。</translation>
    </message>
    <message>
        <source>Import subtitles (SRT or VTT), or set the times of the lines.</source>
        <translation>请导入字幕（SRT 或 VTT），或为各行设置时间。</translation>
    </message>
    <message>
        <source>No line has a time in a video.</source>
        <translation>没有任何一行带有视频时间。</translation>
    </message>
    <message>
        <source>Choose a voice for them.</source>
        <translation>请为它们选择音色。</translation>
    </message>
    <message>
        <source>The model has not learned this language; its speech is unintelligible.</source>
        <translation>模型不支持这些行的语言，朗读会含糊不清。</translation>
    </message>
    <message>
        <source>These lines have no voice.</source>
        <translation>这些行没有音色。</translation>
    </message>
    <message>
        <source>Check the internet connection. Downloaded data is kept. Or import the model from a folder.</source>
        <translation>请检查网络连接。已下载的数据会保留。也可从文件夹导入模型。</translation>
    </message>
    <message>
        <source>None of the sources of models can be reached: {hosts}.</source>
        <translation>所有模型下载源均无法连接：{hosts}。</translation>
    </message>
    <message>
        <source>Other programs keep this computer busy. Faster engines are tested once it is free.</source>
        <translation>其他程序正在占用本机，空闲后再测试更快的引擎。</translation>
    </message>
    <message>
        <source>{cause} ({code}, {count} times, last {when})</source>
        <translation>{cause}（{code}，共 {count} 次，最近 {when}）</translation>
    </message>
    <message>
        <source>Files of earlier exports that this one does not contain are kept: {names} ({count}).</source>
        <translation>以前导出的文件中有 {count} 个不在本次导出之列，会保留：{names}。</translation>
    </message>
    <message>
        <source>Choose the voices in the project: Edit &gt; Cast…</source>
        <translation>请在脚本中选择音色：编辑 › 角色配音…</translation>
    </message>
    <message>
        <source>The table has no column “{column}”.{did_you_mean}</source>
        <translation>表格中没有“{column}”列。{did_you_mean}</translation>
    </message>
    <message>
        <source>Choose one of these, or no standard.</source>
        <translation>请选择其中一种，或不使用标准。</translation>
    </message>
    <message>
        <source>{standard} does not allow {sample_rate} Hz.</source>
        <translation>{standard} 不允许 {sample_rate} Hz 采样率。</translation>
    </message>
    <message>
        <source>{standard} is for chapters, audiobooks and joined files.</source>
        <translation>{standard} 仅适用于章节文件、有声书和合并文件。</translation>
    </message>
    <message>
        <source>Export it again with the standard, or correct a WAV, FLAC or MP3 file.</source>
        <translation>请按该标准重新导出，或改为修正 WAV、FLAC 或 MP3 文件。</translation>
    </message>
    <message>
        <source>{file} cannot be corrected: its format cannot be written again.</source>
        <translation>无法修正 {file}：不支持写入该格式。</translation>
    </message>
    <message>
        <source>Free some space; the changes are then saved at once. Alternatively, save the script to another disk.</source>
        <translation>请释放一些空间，更改会立即保存；也可以将脚本保存到其他磁盘。</translation>
    </message>
    <message>
        <source>{before}; {after}</source>
        <translation>{before}；{after}</translation>
    </message>
    <message>
        <source>{first}, {rest}</source>
        <translation>{first}、{rest}</translation>
    </message>
    <message>
        <source>{file}: {reason}</source>
        <translation>{file}：{reason}</translation>
    </message>
    <message>
        <source>, </source>
        <translation>、</translation>
    </message>
    <message>
        <source>A program sent the speech service a request with a path or method that it does not have.</source>
        <translation>有程序向语音服务发送了路径或方法不存在的请求。</translation>
    </message>
    <message>
        <source>Correct the address of the program: it ends with /v1. /openapi.json describes the requests.</source>
        <translation>请更正该程序中的地址：应以 /v1 结尾。/openapi.json 说明了所有请求。</translation>
    </message>
    <message>
        <source>Send the name of one voice, or mix speakers that the model contains.</source>
        <translation>请只发送一个音色的名称，或混合模型自带的说话人。</translation>
    </message>
    <message>
        <source>The base URL of OpenAI&apos;s clients ends with /v1. /openapi.json describes all requests.</source>
        <translation>OpenAI 客户端的基础地址以 /v1 结尾。/openapi.json 说明了所有请求。</translation>
    </message>
    <message>
        <source>The voices in “{name}” cannot be mixed, because a recording is the voice of one speaker.</source>
        <translation>“{name}”中的音色无法混合，因为一段录音只有一个人的声音。</translation>
    </message>
    <message>
        <source>This service has no request {method} {path}.</source>
        <translation>本服务没有 {method} {path} 这一请求。</translation>
    </message>
    <message>
        <source>Too long for the slot in the video. Speak &gt; Fit all to slots… shortens takes.</source>
        <translation>超出视频中的字幕时长。可用“生成 &gt; 全部对齐字幕时长…”缩短。</translation>
    </message>
    <message>
        <source>The checks found problems. They will be exported anyway.</source>
        <translation>检查发现这些音频有问题，将按现状导出。</translation>
    </message>
    <message>
        <source>A disclaimer would delay lines that have times.</source>
        <translation>声明会使带时间的行延后。</translation>
    </message>
    <message>
        <source>Ask the speaker again and change the details of the voice, or choose another voice.</source>
        <translation>请重新取得说话人授权并更新音色详情，或改用其他音色。</translation>
    </message>
    <message>
        <source>Ask the speaker again, or choose another voice.</source>
        <translation>请重新取得说话人授权，或改用其他音色。</translation>
    </message>
    <message>
        <source>Export without --disclaimer, and add it to the video.</source>
        <translation>请不带 --disclaimer 导出，并在视频中另行添加声明。</translation>
    </message>
    <message>
        <source>Record it in the details of the voice, or choose another voice.</source>
        <translation>请在音色详情中填写授权信息，或改用其他音色。</translation>
    </message>
    <message>
        <source>Record the consent in the details of the voice, or choose another voice.</source>
        <translation>请在音色详情中填写授权信息，或改用其他音色。</translation>
    </message>
    <message>
        <source>The consent of the speaker of {name} is not recorded.</source>
        <translation>音色“{name}”没有说话人的授权记录。</translation>
    </message>
    <message>
        <source>The consent to use the voice has ended.</source>
        <translation>该音色的授权已到期。</translation>
    </message>
    <message>
        <source>The consent to use the voice {name} ended on {date}.</source>
        <translation>音色“{name}”的授权已于 {date} 到期。</translation>
    </message>
    <message>
        <source>--corrections and --whole-paragraphs are for novels with --full-cast.</source>
        <translation>--corrections 和 --whole-paragraphs 用于带 --full-cast 的小说。</translation>
    </message>
    <message>
        <source>Add --full-cast.</source>
        <translation>请加上 --full-cast。</translation>
    </message>
    <message>
        <source>Copy the quotations from the output of `timbre characters --json`.</source>
        <translation>请从 `timbre characters --json` 的输出中复制引语。</translation>
    </message>
    <message>
        <source>The corrections cannot be read ({file}): {reason}.</source>
        <translation>无法读取更正文件（{file}）：{reason}。</translation>
    </message>
    <message>
        <source>Write the output of `timbre characters BOOK --json` to a file, and change the speakers.</source>
        <translation>请把 `timbre characters BOOK --json` 的输出写入文件，再修改其中的说话人。</translation>
    </message>
    <message>
        <source>it does not have the form of `timbre characters --json`</source>
        <translation>格式与 `timbre characters --json` 的输出不同</translation>
    </message>
    <message>
        <source>{file} corrects a quotation that is not in the book, or not in this order: {text}</source>
        <translation>{file} 中有一句引语不在书中，或顺序不同：{text}</translation>
    </message>
    <message>
        <source>A read-along page needs the audio of all lines in one file.</source>
        <translation>跟读网页需要包含所有行的单个音频文件。</translation>
    </message>
    <message>
        <source>Choose one file for all lines, or an audiobook.</source>
        <translation>请选择合并为一个文件，或有声书。</translation>
    </message>
    <message>
        <source>Check the address and its firewall, or start the cluster there with “timbre cluster start”.</source>
        <translation>请检查地址和防火墙，或在那台电脑上用“timbre cluster start”启动集群。</translation>
    </message>
    <message>
        <source>The head node {address} does not answer ({reason}).</source>
        <translation>主节点 {address} 没有响应（{reason}）。</translation>
    </message>
    <message>
        <source>Choose a voice with a recording of at least {seconds:g} seconds.</source>
        <translation>请选择录音不短于 {seconds:g} 秒的音色。</translation>
    </message>
    <message>
        <source>{name} cannot be shortened.</source>
        <translation>{name} 无法缩短。</translation>
    </message>
    <message>
        <source>Select the words to speak again, or speak the line again.</source>
        <translation>请选中要重新生成的词，或重新生成整行。</translation>
    </message>
    <message>
        <source>The engine spoke another text or cannot keep the other words of the take.</source>
        <translation>引擎生成了别的文本，或者无法保留这条音频的其他词。</translation>
    </message>
    <message>
        <source>The speech tokens of this take are not stored, because it was edited or joined, or is a recording.</source>
        <translation>这条音频没有保存语音 token，因为它经过编辑或拼接，或者来自录音。</translation>
    </message>
    <message>
        <source>The take was spoken with {model}, which is not loaded.</source>
        <translation>这条音频由 {model} 生成，而该模型未加载。</translation>
    </message>
    <message>
        <source>The words that have changed since this take could not be identified.</source>
        <translation>无法确定此音频生成后改动了哪些词。</translation>
    </message>
    <message>
        <source>the pace differs from the rest of the script</source>
        <translation>语速与脚本其余部分不同</translation>
    </message>
    <message>
        <source>the pitch differs from the rest of the script</source>
        <translation>音高与脚本其余部分不同</translation>
    </message>
    <message>
        <source>It is mostly silence ({percent:.0f}%).</source>
        <translation>大部分是静音（{percent:.0f}%）。</translation>
    </message>
    <message>
        <source>{percent:.0f}% is silence.</source>
        <translation>静音占 {percent:.0f}%。</translation>
    </message>
    <message>
        <source>The times of the subtitles are those in one file of all lines, which is not exported.</source>
        <translation>字幕时间对应所有行合并后的音频，但此次不会导出合并的文件。</translation>
    </message>
</context>
<context>
    <name>ExportController</name>
    <message>
        <source>Export paused</source>
        <translation>导出已暂停</translation>
    </message>
    <message numerus="yes">
        <source>Export: %n line(s) failed</source>
        <translation>
            <numerusform>导出：%n 行失败</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) exported.</source>
        <translation>
            <numerusform>已导出 %n 个文件。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) missing.</source>
        <translation>
            <numerusform>缺少 %n 行。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sound(s) or direction(s) not exported.</source>
        <translation>
            <numerusform>%n 行音效或舞台提示未导出。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) too long for the slot.</source>
        <translation>
            <numerusform>%n 行超出时段。</numerusform>
        </translation>
    </message>
    <message>
        <source>Show folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Show levels…</source>
        <translation>查看电平…</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) could not be spoken.</source>
        <translation>
            <numerusform>%n 行生成失败。</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing has been exported yet.</source>
        <translation>尚未导出任何文件。</translation>
    </message>
    <message>
        <source>Show…</source>
        <translation>查看…</translation>
    </message>
    <message>
        <source>Exporting {percent}%</source>
        <translation>正在导出 {percent}%</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) with problems.</source>
        <translation>
            <numerusform>有 %n 行存在问题。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ExportDetails</name>
    <message>
        <source>Export of {name}</source>
        <translation>导出“{name}”</translation>
    </message>
</context>
<context>
    <name>ExportDialog</name>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Script</source>
        <translation>脚本</translation>
    </message>
    <message>
        <source>Export audio</source>
        <translation>导出音频</translation>
    </message>
</context>
<context>
    <name>ExportForm</name>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>All lines ({count})</source>
        <translation>所有行（{count}）</translation>
    </message>
    <message>
        <source>Selected lines ({count})</source>
        <translation>选中的行（{count}）</translation>
    </message>
    <message>
        <source>Lines</source>
        <translation>台词</translation>
    </message>
    <message>
        <source>Wait for their checks</source>
        <translation>等待检查完成</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>First words</source>
        <translation>开头文字</translation>
    </message>
    <message>
        <source>Style</source>
        <translation>风格</translation>
    </message>
    <message>
        <source>Character</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>ID of the imported line</source>
        <translation>导入的台词编号</translation>
    </message>
    <message>
        <source>Speak them first</source>
        <translation>先生成这些行</translation>
    </message>
    <message>
        <source>Skip them</source>
        <translation>跳过这些行</translation>
    </message>
    <message>
        <source>Joined file name</source>
        <translation>合并文件的名称</translation>
    </message>
    <message>
        <source>Overwrite other scripts&apos; files</source>
        <translation>覆盖其他脚本的文件</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) are new or changed:</source>
        <translation>
            <numerusform>有 %n 行未生成或已更改：</numerusform>
        </translation>
    </message>
    <message>
        <source>Audio</source>
        <translation>音频</translation>
    </message>
    <message>
        <source>Extras</source>
        <translation>附加内容</translation>
    </message>
    <message>
        <source>Insert field</source>
        <translation>插入字段</translation>
    </message>
    <message>
        <source>Insert field into file name</source>
        <translation>在文件名中插入字段</translation>
    </message>
    <message>
        <source>Line number</source>
        <translation>行号</translation>
    </message>
    <message>
        <source>Script name</source>
        <translation>脚本名称</translation>
    </message>
    <message>
        <source>Chapter number</source>
        <translation>章节编号</translation>
    </message>
    <message>
        <source>Chapter title</source>
        <translation>章节标题</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>自定义</translation>
    </message>
    <message>
        <source>Same loudness for all lines</source>
        <translation>统一各行响度</translation>
    </message>
</context>
<context>
    <name>ExportResuming</name>
    <message>
        <source>The export of “{name}” was interrupted.</source>
        <translation>“{name}”的导出意外中断。</translation>
    </message>
    <message numerus="yes">
        <source>{count} of %n line(s) spoken.</source>
        <translation>
            <numerusform>共 %n 行，已生成 {count} 行。</numerusform>
        </translation>
    </message>
    <message>
        <source>Continue export</source>
        <translation>继续导出</translation>
    </message>
    <message>
        <source>Open and continue</source>
        <translation>打开并继续</translation>
    </message>
    <message>
        <source>Don&apos;t continue</source>
        <translation>不再继续</translation>
    </message>
</context>
<context>
    <name>ExportTask</name>
    <message>
        <source>Speaking line {number} of {count}</source>
        <translation>正在生成第 {number}/{count} 行</translation>
    </message>
    <message>
        <source>Paused at line {number} of {count}</source>
        <translation>已暂停：第 {number}/{count} 行</translation>
    </message>
    <message>
        <source>Writing line {number} of {count}</source>
        <translation>正在写入第 {number}/{count} 行</translation>
    </message>
    <message>
        <source>Joining lines</source>
        <translation>正在合并各行</translation>
    </message>
    <message>
        <source>Waiting for another export</source>
        <translation>正在等待另一项导出</translation>
    </message>
    <message>
        <source>{count} lines per minute</source>
        <translation>每分钟 {count} 行</translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>还需 {time}</translation>
    </message>
</context>
<context>
    <name>FilterBar</name>
    <message>
        <source>Filter</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>Text of the shown lines</source>
        <translation>要显示的行的文本</translation>
    </message>
    <message>
        <source>Voice or character of the shown lines</source>
        <translation>要显示的行的音色或角色</translation>
    </message>
    <message>
        <source>State of the shown lines</source>
        <translation>要显示的行的状态</translation>
    </message>
    <message>
        <source>Style of the shown lines</source>
        <translation>要显示的行的风格</translation>
    </message>
    <message>
        <source>Has note</source>
        <translation>有备注</translation>
    </message>
    <message>
        <source>Needs review</source>
        <translation>需试听</translation>
    </message>
    <message>
        <source>Lines whose take has problems that you have not accepted</source>
        <translation>音频有问题且尚未接受的行</translation>
    </message>
    <message>
        <source>Speak only these</source>
        <translation>只生成这些行</translation>
    </message>
    <message>
        <source>“Speak all changed lines” leaves out the lines that are not shown</source>
        <translation>“生成所有已更改的行”不包括未显示的行</translation>
    </message>
    <message>
        <source>Show all lines (Esc)</source>
        <translation>显示所有行（Esc）</translation>
    </message>
    <message>
        <source>Show all lines</source>
        <translation>显示所有行</translation>
    </message>
    <message>
        <source>Any voice</source>
        <translation>全部音色</translation>
    </message>
    <message>
        <source>Character: {name}</source>
        <translation>角色：{name}</translation>
    </message>
    <message>
        <source>Any state</source>
        <translation>全部状态</translation>
    </message>
    <message>
        <source>Any style</source>
        <translation>全部风格</translation>
    </message>
    <message>
        <source>No style</source>
        <translation>无风格</translation>
    </message>
    <message>
        <source>{shown} of {count} lines shown</source>
        <translation>显示 {shown} 行，共 {count} 行</translation>
    </message>
</context>
<context>
    <name>FindBar</name>
    <message>
        <source>Find</source>
        <translation>查找</translation>
    </message>
    <message>
        <source>Replace with</source>
        <translation>替换为</translation>
    </message>
    <message>
        <source>Match case</source>
        <translation>区分大小写</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>替换</translation>
    </message>
    <message>
        <source>Replace all</source>
        <translation>全部替换</translation>
    </message>
    <message>
        <source>{number} of {count}</source>
        <translation>{number}/{count}</translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>未找到</translation>
    </message>
    <message>
        <source>Previous match</source>
        <translation>上一个匹配项</translation>
    </message>
    <message>
        <source>Next match</source>
        <translation>下一个匹配项</translation>
    </message>
    <message>
        <source>Match {number} of {count}</source>
        <translation>第 {number} 个匹配项，共 {count} 个</translation>
    </message>
    <message numerus="yes">
        <source>%n match(es)</source>
        <translation>
            <numerusform>%n 个匹配项</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n match(es) replaced</source>
        <translation>
            <numerusform>已替换 %n 处</numerusform>
        </translation>
    </message>
    <message>
        <source>Also find voices, styles, file names, IDs and notes</source>
        <translation>同时查找音色、风格、文件名、ID 和备注</translation>
    </message>
</context>
<context>
    <name>FindingsList</name>
    <message>
        <source>Check before export</source>
        <translation>导出前检查</translation>
    </message>
    <message>
        <source>Show lines</source>
        <translation>定位到这些行</translation>
    </message>
    <message numerus="yes">
        <source>Skip %n line(s) that would fail</source>
        <translation>
            <numerusform>跳过会失败的 %n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>Line {numbers}: {words}</source>
        <translation>第 {numbers} 行：{words}</translation>
    </message>
    <message>
        <source>Lines {numbers}: {words}</source>
        <translation>第 {numbers} 行：{words}</translation>
    </message>
</context>
<context>
    <name>FirstRun</name>
    <message>
        <source>Download {size}</source>
        <translation>下载 {size}</translation>
    </message>
    <message>
        <source>Other models…</source>
        <translation>其他模型…</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>暂不</translation>
    </message>
    <message>
        <source>Downloading {name}</source>
        <translation>正在下载 {name}</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>稍后</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Load without comparing</source>
        <translation>直接加载</translation>
    </message>
    <message>
        <source>speech</source>
        <translation>语音</translation>
    </message>
    <message>
        <source>noise</source>
        <translation>噪声</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>speech instead of noise</source>
        <translation>输出语音而非噪声</translation>
    </message>
    <message>
        <source>noise instead of speech</source>
        <translation>输出噪声而非语音</translation>
    </message>
    <message>
        <source>Better: {gains}.</source>
        <translation>变好：{gains}。</translation>
    </message>
    <message>
        <source>, </source>
        <translation>，</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n 个核心</numerusform>
        </translation>
    </message>
    <message>
        <source>This computer: {parts}.</source>
        <translation>本机：{parts}。</translation>
    </message>
    <message>
        <source>Resume download</source>
        <translation>继续下载</translation>
    </message>
    <message>
        <source>Queued</source>
        <translation>排队中</translation>
    </message>
    <message>
        <source>You can keep working. Downloaded data is kept if you pause or quit.</source>
        <translation>不影响继续使用。暂停或退出程序后，已下载的内容仍会保留。</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Download of {name} paused</source>
        <translation>{name} 已暂停下载</translation>
    </message>
    <message>
        <source>Downloaded data is kept, even after you quit.</source>
        <translation>已下载的内容会保留，退出程序也不会丢失。</translation>
    </message>
    <message>
        <source>Download of {name} failed</source>
        <translation>{name} 下载失败</translation>
    </message>
    <message>
        <source>Load and compare</source>
        <translation>加载并对比</translation>
    </message>
    <message>
        <source>For comparison, one sentence is spoken with the current model and with the new one.</source>
        <translation>将用当前模型和新模型各生成一句话，供对比。</translation>
    </message>
    <message>
        <source>{name} is installed</source>
        <translation>{name} 已安装</translation>
    </message>
    <message>
        <source>Output</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>Latency</source>
        <translation>首音延迟</translation>
    </message>
    <message>
        <source>Time per second of speech</source>
        <translation>每秒语音耗时</translation>
    </message>
    <message>
        <source>Frequencies up to</source>
        <translation>最高频率</translation>
    </message>
    <message>
        <source>{name} is in use</source>
        <translation>已切换到 {name}</translation>
    </message>
    <message>
        <source>The same sentence and voice with both models, measured on this computer:</source>
        <translation>同一句话、同一音色，在本机上的实测结果：</translation>
    </message>
    <message>
        <source>Play {name}</source>
        <translation>播放 {name}</translation>
    </message>
    <message>
        <source>fuller sound</source>
        <translation>音质更饱满</translation>
    </message>
    <message>
        <source>duller sound</source>
        <translation>音质较闷</translation>
    </message>
    <message>
        <source>lower latency</source>
        <translation>首音延迟更低</translation>
    </message>
    <message>
        <source>higher latency</source>
        <translation>首音延迟更高</translation>
    </message>
    <message>
        <source>faster</source>
        <translation>速度更快</translation>
    </message>
    <message>
        <source>slower</source>
        <translation>速度更慢</translation>
    </message>
    <message>
        <source>Worse: {costs}.</source>
        <translation>变差：{costs}。</translation>
    </message>
    <message>
        <source>No noticeable difference.</source>
        <translation>没有明显差别。</translation>
    </message>
    <message>
        <source>Speaking a sentence with {name}…</source>
        <translation>正在用 {name} 生成一句话…</translation>
    </message>
    <message>
        <source>Skip comparison</source>
        <translation>跳过对比</translation>
    </message>
    <message>
        <source>Demo model, {languages} only. Get {model} for more natural voices</source>
        <translation>演示模型，仅支持{languages}。下载 {model} 可获得更自然的声音</translation>
    </message>
    <message>
        <source>{size} memory, {free} free</source>
        <translation>内存 {size}，可用 {free}</translation>
    </message>
    <message>
        <source>{size} free disk space</source>
        <translation>磁盘剩余 {size}</translation>
    </message>
    <message>
        <source>no NVIDIA GPU</source>
        <translation>无 NVIDIA 显卡</translation>
    </message>
    <message>
        <source>{gpu} with {size}, driver {driver}</source>
        <translation>{gpu}，显存 {size}，驱动 {driver}</translation>
    </message>
    <message>
        <source>Try now</source>
        <translation>立即重试</translation>
    </message>
    <message>
        <source>Other source</source>
        <translation>换下载源</translation>
    </message>
    <message>
        <source>Better voice: {name}</source>
        <translation>音质更好：{name}</translation>
    </message>
</context>
<context>
    <name>FirstRunPanel</name>
    <message>
        <source>First steps</source>
        <translation>首次设置</translation>
    </message>
    <message>
        <source>More first steps</source>
        <translation>首次设置详情</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Close first steps</source>
        <translation>关闭首次设置</translation>
    </message>
</context>
<context>
    <name>FitDialog</name>
    <message>
        <source>Fit to slots</source>
        <translation>对齐字幕时长</translation>
    </message>
    <message>
        <source>Also slow down short takes</source>
        <translation>同时放慢过短的音频</translation>
    </message>
    <message>
        <source>Apply</source>
        <translation>应用</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Longer than their slots: {over} of {count} takes.</source>
        <translation>{count} 条音频中有 {over} 条超出时段。</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) have not been spoken.</source>
        <translation>
            <numerusform>%n 行尚未生成。</numerusform>
        </translation>
    </message>
    <message>
        <source>No.</source>
        <translation>序号</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>Slot</source>
        <translation>时段</translation>
    </message>
    <message>
        <source>Take</source>
        <translation>音频</translation>
    </message>
    <message>
        <source>Overrun</source>
        <translation>超出</translation>
    </message>
    <message>
        <source>Action</source>
        <translation>处理方式</translation>
    </message>
    <message>
        <source>Lines and their slots</source>
        <translation>各行及其时段</translation>
    </message>
    <message>
        <source>Slowest</source>
        <translation>最慢</translation>
    </message>
    <message>
        <source>Fastest</source>
        <translation>最快</translation>
    </message>
    <message>
        <source>Never</source>
        <translation>从不</translation>
    </message>
    <message>
        <source>Where stretching is not enough</source>
        <translation>仅在变速仍不够时</translation>
    </message>
    <message>
        <source>All that are too long</source>
        <translation>所有超长的行</translation>
    </message>
    <message>
        <source>A new take in a faster style of the model. It is a new reading of the line.</source>
        <translation>用模型较快的风格重新生成，得到的是一条新的音频。</translation>
    </message>
    <message>
        <source>Speed limits</source>
        <translation>语速范围</translation>
    </message>
    <message>
        <source>Speak again faster</source>
        <translation>加快语速重新生成</translation>
    </message>
    <message>
        <source>{seconds:.2f} s</source>
        <translation>{seconds:.2f} 秒</translation>
    </message>
    <message>
        <source>{seconds:+.2f} s</source>
        <translation>{seconds:+.2f} 秒</translation>
    </message>
    <message>
        <source>Speed up {speed:.2f}×</source>
        <translation>加速至 {speed:.2f}×</translation>
    </message>
    <message>
        <source>Slow down {speed:.2f}×</source>
        <translation>减速至 {speed:.2f}×</translation>
    </message>
    <message>
        <source>{seconds:.2f} s too long</source>
        <translation>仍超出 {seconds:.2f} 秒</translation>
    </message>
    <message>
        <source>{seconds:.2f} s too long, {spare:.2f} s of silence after it</source>
        <translation>超出 {seconds:.2f} 秒，其后只有 {spare:.2f} 秒静音</translation>
    </message>
    <message>
        <source>uses {seconds:.2f} s of the silence after it</source>
        <translation>借用其后 {seconds:.2f} 秒静音</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>合适</translation>
    </message>
    <message>
        <source>Take {number} of {total}</source>
        <translation>第 {number} 个，共 {total} 个</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) fitted.</source>
        <translation>
            <numerusform>已适配 %n 行。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) spoken again.</source>
        <translation>
            <numerusform>已重新生成 %n 行。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) remain too long; they are marked.</source>
        <translation>
            <numerusform>仍有 %n 行过长，已标记。</numerusform>
        </translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>Fitter</name>
    <message>
        <source>Fit to slots</source>
        <translation>对齐字幕时长</translation>
    </message>
</context>
<context>
    <name>GlobalWords</name>
    <message>
        <source>Change shared dictionary</source>
        <translation>更改通用词典</translation>
    </message>
</context>
<context>
    <name>GuidePicture</name>
    <message>
        <source>Picture</source>
        <translation>画面</translation>
    </message>
</context>
<context>
    <name>ImportPage</name>
    <message>
        <source>Import {name}</source>
        <translation>导入 {name}</translation>
    </message>
    <message>
        <source>First row contains headings</source>
        <translation>首行为列名</translation>
    </message>
    <message>
        <source>Names before colons are speakers</source>
        <translation>冒号前的名字是说话人</translation>
    </message>
    <message>
        <source>Speak stage directions and notes</source>
        <translation>为舞台提示和注释生成语音</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>导入</translation>
    </message>
    <message>
        <source>{encoding}: {preview}</source>
        <translation>{encoding}：{preview}</translation>
    </message>
    <message>
        <source>Encoding</source>
        <translation>编码</translation>
    </message>
    <message>
        <source>Sheets</source>
        <translation>工作表</translation>
    </message>
    <message>
        <source>One line per sentence</source>
        <translation>每句一行</translation>
    </message>
    <message>
        <source>One line per paragraph</source>
        <translation>每段一行</translation>
    </message>
    <message>
        <source>Split text</source>
        <translation>拆分文本</translation>
    </message>
    <message>
        <source>Level 1</source>
        <translation>1 级标题</translation>
    </message>
    <message>
        <source>Levels 1 to {level}</source>
        <translation>1 至 {level} 级标题</translation>
    </message>
    <message>
        <source>Chapters</source>
        <translation>章节</translation>
    </message>
    <message>
        <source>{sheet} ({count})</source>
        <translation>{sheet}（{count}）</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation>
            <numerusform>%n 行</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n not spoken</source>
        <translation>
            <numerusform>%n 行不生成语音</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n character(s)</source>
        <translation>
            <numerusform>%n 个角色</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n chapter(s)</source>
        <translation>
            <numerusform>%n 章</numerusform>
        </translation>
    </message>
    <message>
        <source>about {time}</source>
        <translation>约 {time}</translation>
    </message>
    <message>
        <source>Not spoken</source>
        <translation>不生成语音</translation>
    </message>
    <message>
        <source>Not spoken: {text}</source>
        <translation>不生成语音：{text}</translation>
    </message>
    <message numerus="yes">
        <source>%n more line(s)</source>
        <translation>
            <numerusform>还有 %n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>Preview</source>
        <translation>预览</translation>
    </message>
    <message>
        <source>Character</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>Encoding:</source>
        <translation>编码：</translation>
    </message>
    <message>
        <source>Sheets:</source>
        <translation>工作表：</translation>
    </message>
    <message>
        <source>Split text:</source>
        <translation>拆分文本：</translation>
    </message>
    <message>
        <source>Chapters:</source>
        <translation>章节：</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Speak sounds, songs and signs</source>
        <translation>为音效、歌曲和屏幕文字生成语音</translation>
    </message>
</context>
<context>
    <name>InspectionDialog</name>
    <message>
        <source>Inspect audio files</source>
        <translation>检查音频来源</translation>
    </message>
    <message>
        <source>Choose files…</source>
        <translation>选择文件…</translation>
    </message>
    <message>
        <source>Origin of the files</source>
        <translation>文件来源</translation>
    </message>
    <message>
        <source>Choose audio files, or drop them here.</source>
        <translation>请选择音频文件，或将其拖放到此处。</translation>
    </message>
    <message>
        <source>Choose files</source>
        <translation>选择文件</translation>
    </message>
    <message>
        <source>Manifest</source>
        <translation>签名清单</translation>
    </message>
    <message>
        <source>Signed by</source>
        <translation>签名者</translation>
    </message>
    <message>
        <source>Original recordings</source>
        <translation>原始录音</translation>
    </message>
    <message>
        <source>Valid. The file has not changed since it was signed.</source>
        <translation>有效。文件自签名后未被更改。</translation>
    </message>
    <message>
        <source>Valid, but no certificate that you trust confirms the name of the signer.</source>
        <translation>有效，但没有受信任的证书证明签名者的身份。</translation>
    </message>
    <message>
        <source>None. The file does not say where it comes from, and may be synthetic.</source>
        <translation>无。文件没有注明来源，也可能是合成语音。</translation>
    </message>
    <message>
        <source>human recording with replaced words</source>
        <translation>真人录音，部分词语经过替换</translation>
    </message>
    <message>
        <source>human recording</source>
        <translation>真人录音</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>许可证</translation>
    </message>
    <message>
        <source>Made</source>
        <translation>生成时间</translation>
    </message>
    <message>
        <source>Edits</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>voice {name}</source>
        <translation>音色 {name}</translation>
    </message>
    <message>
        <source>seed {seed}</source>
        <translation>种子 {seed}</translation>
    </message>
    <message>
        <source>consent: {consent}</source>
        <translation>授权：{consent}</translation>
    </message>
    <message>
        <source>Line</source>
        <translation>行</translation>
    </message>
    <message>
        <source>and {count} more</source>
        <translation>另有 {count} 行</translation>
    </message>
    <message>
        <source>Mark</source>
        <translation>水印</translation>
    </message>
    <message>
        <source>Found. The speech is synthetic; the mark is clearest from {start} to {end} s.</source>
        <translation>已检出。语音为合成；水印在第 {start} 到 {end} 秒最清楚。</translation>
    </message>
    <message>
        <source>This is your file {number}.</source>
        <translation>这是您的文件 {number}。</translation>
    </message>
    <message>
        <source>No mark found. The speech may be synthetic, too.</source>
        <translation>未检出水印。语音仍可能为合成。</translation>
    </message>
    <message>
        <source>Not checked. The sound is too short or cannot be read.</source>
        <translation>未检测。声音太短，或无法读取。</translation>
    </message>
</context>
<context>
    <name>Inspector</name>
    <message>
        <source>As spoken</source>
        <translation>实际读法</translation>
    </message>
    <message>
        <source>Takes</source>
        <translation>音频</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>属性</translation>
    </message>
    <message>
        <source>This line has not been spoken yet.</source>
        <translation>此行尚未生成。</translation>
    </message>
    <message>
        <source>Line</source>
        <translation>行</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation>
            <numerusform>%n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>Takes {count}</source>
        <translation>音频 {count}</translation>
    </message>
    <message>
        <source>The take was spoken at {speed:.2f}× and cannot be stretched this far. Speak it again.</source>
        <translation>这条音频生成时的语速为 {speed:.2f}×，无法变速到这个程度。请重新生成。</translation>
    </message>
    <message>
        <source>Line and takes</source>
        <translation>行与音频</translation>
    </message>
</context>
<context>
    <name>KnownWriting</name>
    <message>
        <source>{model} supports {languages} only. Text in other languages becomes unintelligible.</source>
        <translation>{model} 仅支持{languages}，其他语言无法正确朗读。</translation>
    </message>
    <message>
        <source>{model} supports {languages} only. Text in other languages becomes unintelligible. Other models support more languages (File › Models…).</source>
        <translation>{model} 仅支持{languages}，其他语言无法正确朗读。其他模型支持更多语言（见“文件 › 模型…”）。</translation>
    </message>
</context>
<context>
    <name>LanguageNotices</name>
    <message numerus="yes">
        <source>%n line(s) not spoken.</source>
        <translation>
            <numerusform>有 %n 行未生成。</numerusform>
        </translation>
    </message>
    <message>
        <source>Speak anyway</source>
        <translation>仍然生成</translation>
    </message>
    <message>
        <source>Always speak</source>
        <translation>以后不再询问</translation>
    </message>
    <message>
        <source>Use {name}</source>
        <translation>使用 {name}</translation>
    </message>
    <message>
        <source>Download {name} ({size})</source>
        <translation>下载 {name}（{size}）</translation>
    </message>
</context>
<context>
    <name>Languages</name>
    <message>
        <source>Chinese</source>
        <translation>中文</translation>
    </message>
    <message>
        <source>English</source>
        <translation>英语</translation>
    </message>
    <message>
        <source>Japanese</source>
        <translation>日语</translation>
    </message>
    <message>
        <source>Korean</source>
        <translation>韩语</translation>
    </message>
    <message>
        <source>Cantonese</source>
        <translation>粤语</translation>
    </message>
    <message>
        <source>German</source>
        <translation>德语</translation>
    </message>
    <message>
        <source>French</source>
        <translation>法语</translation>
    </message>
    <message>
        <source>Spanish</source>
        <translation>西班牙语</translation>
    </message>
    <message>
        <source>Italian</source>
        <translation>意大利语</translation>
    </message>
    <message>
        <source>Russian</source>
        <translation>俄语</translation>
    </message>
</context>
<context>
    <name>LengthNotices</name>
    <message>
        <source>Speak again</source>
        <translation>重新生成</translation>
    </message>
</context>
<context>
    <name>LevelMeter</name>
    <message>
        <source>Level</source>
        <translation>电平</translation>
    </message>
    <message>
        <source>Too loud</source>
        <translation>音量过大</translation>
    </message>
    <message>
        <source>Silence</source>
        <translation>静音</translation>
    </message>
    <message>
        <source>{level:.0f} decibels</source>
        <translation>{level:.0f} 分贝</translation>
    </message>
</context>
<context>
    <name>LevelsDialog</name>
    <message>
        <source>Check audio levels</source>
        <translation>检查音频电平</translation>
    </message>
</context>
<context>
    <name>LevelsPanel</name>
    <message>
        <source>Standard</source>
        <translation>标准</translation>
    </message>
    <message>
        <source>Choose files…</source>
        <translation>选择文件…</translation>
    </message>
    <message>
        <source>Fix</source>
        <translation>修正</translation>
    </message>
    <message>
        <source>Master the files that fail. The originals are moved to the folder “originals”.</source>
        <translation>对不合格的文件重新做母带处理，原文件移至“originals”文件夹。</translation>
    </message>
    <message>
        <source>Progress of the check</source>
        <translation>检查进度</translation>
    </message>
    <message>
        <source>Audio levels</source>
        <translation>音频电平</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Chapter</source>
        <translation>章节</translation>
    </message>
    <message>
        <source>silence</source>
        <translation>静音</translation>
    </message>
    <message>
        <source>meets the standard</source>
        <translation>符合标准</translation>
    </message>
    <message>
        <source>outside the standard</source>
        <translation>不符合标准</translation>
    </message>
    <message>
        <source>Choose audio files to check.</source>
        <translation>请选择要检查的音频文件。</translation>
    </message>
    <message>
        <source>Measuring {file}</source>
        <translation>正在测量 {file}</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) do not meet the standard.</source>
        <translation>
            <numerusform>%n 个文件不符合标准。</numerusform>
        </translation>
    </message>
    <message>
        <source>All files meet the standard.</source>
        <translation>所有文件均符合标准。</translation>
    </message>
    <message>
        <source>RMS (dB)</source>
        <translation>RMS (dB)</translation>
    </message>
    <message>
        <source>Peak (dB)</source>
        <translation>峰值（dB）</translation>
    </message>
    <message>
        <source>True peak (dBTP)</source>
        <translation>真峰值（dBTP）</translation>
    </message>
    <message>
        <source>Floor (dB)</source>
        <translation>底噪（dB）</translation>
    </message>
    <message>
        <source>Head (s)</source>
        <translation>开头留白（秒）</translation>
    </message>
    <message>
        <source>Tail (s)</source>
        <translation>结尾留白（秒）</translation>
    </message>
    <message>
        <source>Length (s)</source>
        <translation>时长（秒）</translation>
    </message>
    <message>
        <source>Choose files</source>
        <translation>选择文件</translation>
    </message>
</context>
<context>
    <name>LineModel</name>
    <message>
        <source>No.</source>
        <translation>序号</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>Style</source>
        <translation>风格</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>时长</translation>
    </message>
    <message>
        <source>Take</source>
        <translation>音频</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>检查结果</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Slot</source>
        <translation>时段</translation>
    </message>
    <message>
        <source>Edit text</source>
        <translation>编辑文本</translation>
    </message>
    <message>
        <source>Change voice</source>
        <translation>更改音色</translation>
    </message>
    <message>
        <source>Change style</source>
        <translation>更改风格</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>已更改</translation>
    </message>
    <message>
        <source>Review</source>
        <translation>需试听</translation>
    </message>
    <message>
        <source>Speaking</source>
        <translation>生成中</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>已生成</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message numerus="yes">
        <source>%n need attention</source>
        <translation>
            <numerusform>%n 行需处理</numerusform>
        </translation>
    </message>
    <message>
        <source>The chosen take was stopped before the end of the line.</source>
        <translation>选用的音频在读完前已停止。</translation>
    </message>
    <message>
        <source>This line has not been spoken yet.</source>
        <translation>此行尚未生成。</translation>
    </message>
    <message>
        <source>This line has changed since its take was spoken.</source>
        <translation>生成这条音频后，文本或设置已更改。</translation>
    </message>
    <message>
        <source>This line is locked.</source>
        <translation>此行已锁定。</translation>
    </message>
    <message>
        <source>{number} of {count}</source>
        <translation>{number}/{count}</translation>
    </message>
    <message>
        <source>Empty</source>
        <translation>空</translation>
    </message>
    <message>
        <source>New</source>
        <translation>未生成</translation>
    </message>
    <message>
        <source>Queued</source>
        <translation>排队中</translation>
    </message>
    <message>
        <source>No voice</source>
        <translation>无音色</translation>
    </message>
    <message>
        <source>Waiting to be spoken.</source>
        <translation>等待生成。</translation>
    </message>
    <message>
        <source>The chosen take matches the text.</source>
        <translation>选用的音频与文本一致。</translation>
    </message>
    <message>
        <source>Character</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Change character</source>
        <translation>更改角色</translation>
    </message>
    <message>
        <source>Change file name</source>
        <translation>更改文件名</translation>
    </message>
    <message>
        <source>Edit note</source>
        <translation>编辑备注</translation>
    </message>
    <message>
        <source>Chapter</source>
        <translation>章</translation>
    </message>
    <message>
        <source>Scene</source>
        <translation>场</translation>
    </message>
    <message>
        <source>Locked</source>
        <translation>已锁定</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation>
            <numerusform>%n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>Not spoken</source>
        <translation>未生成</translation>
    </message>
</context>
<context>
    <name>LineNotices</name>
    <message>
        <source>{model} has not learned the sound {tags}. A line with nothing else may stay silent.</source>
        <translation>{model} 不支持声音标签 {tags}。只有标签的行可能没有声音。</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) spoken without style: {model} does not support it.</source>
        <translation>
            <numerusform>{model} 没有其中 %n 行的风格，已用默认风格生成。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LineSettingsForm</name>
    <message>
        <source>For example: speak with great joy</source>
        <translation>例如：用非常开心的语气说话</translation>
    </message>
    <message>
        <source>s</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>no voice</source>
        <translation>未选择音色</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>Style</source>
        <translation>风格</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>语速</translation>
    </message>
    <message>
        <source>Speed, slider</source>
        <translation>语速滑块</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>种子</translation>
    </message>
    <message>
        <source>Pause after the line</source>
        <translation>行后停顿</translation>
    </message>
    <message>
        <source>File name</source>
        <translation>文件名</translation>
    </message>
    <message>
        <source>Pause after</source>
        <translation>行后停顿</translation>
    </message>
    <message>
        <source>Same as script ({quality})</source>
        <translation>跟随脚本（{quality}）</translation>
    </message>
    <message>
        <source>Change voice</source>
        <translation>更改音色</translation>
    </message>
    <message>
        <source>Change pause</source>
        <translation>更改停顿</translation>
    </message>
    <message>
        <source>Change file name</source>
        <translation>更改文件名</translation>
    </message>
    <message>
        <source>More ({count})</source>
        <translation>更多（{count}）</translation>
    </message>
    <message>
        <source>Change style</source>
        <translation>更改风格</translation>
    </message>
    <message>
        <source>Change speed</source>
        <translation>更改语速</translation>
    </message>
    <message>
        <source>Change seed</source>
        <translation>更改种子</translation>
    </message>
    <message>
        <source>This model follows no instructions. To use them, download {model}.</source>
        <translation>此模型不支持指令。如需使用，请下载 {model}。</translation>
    </message>
    <message>
        <source>This voice works only with another model. Choose another voice, or load that model.</source>
        <translation>此音色只能用于其他模型。请选择其他音色，或加载对应的模型。</translation>
    </message>
    <message>
        <source>The model does not have this style, and speaks the line without it.</source>
        <translation>此模型没有这种风格，生成时不带风格。</translation>
    </message>
    <message>
        <source>Choose a voice first.</source>
        <translation>请先选择音色。</translation>
    </message>
    <message numerus="yes">
        <source>Changes apply to %n line(s)</source>
        <translation>
            <numerusform>修改将应用于 %n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>(mixed)</source>
        <translation>（多个值）</translation>
    </message>
    <message>
        <source>Fixed</source>
        <translation>固定</translation>
    </message>
    <message>
        <source>Style instruction</source>
        <translation>风格指令</translation>
    </message>
    <message>
        <source>Fixed seed</source>
        <translation>固定种子</translation>
    </message>
    <message>
        <source>With a fixed seed, the same text always gives the same take. Otherwise each take is different.</source>
        <translation>固定种子后，相同文本的生成结果不变；否则每次生成都不同。</translation>
    </message>
    <message>
        <source>from the name pattern</source>
        <translation>按导出命名规则</translation>
    </message>
    <message>
        <source>Not supported by the server</source>
        <translation>服务器不支持此项</translation>
    </message>
    <message>
        <source>Voice {name} not found. Choose another voice, or add one with this name.</source>
        <translation>找不到名为 {name} 的音色。请选择其他音色，或添加同名音色。</translation>
    </message>
    <message>
        <source>The model follows your instruction.</source>
        <translation>将按指令生成。</translation>
    </message>
    <message>
        <source>The model follows the selected style.</source>
        <translation>将按所选风格生成。</translation>
    </message>
    <message>
        <source>Built-in voice of the model, without a recording.</source>
        <translation>模型内置音色，没有录音。</translation>
    </message>
    <message>
        <source>Best likeness: this voice has a transcript.</source>
        <translation>此音色有参考文本，相似度最高。</translation>
    </message>
    <message>
        <source>Add a transcript for a closer likeness.</source>
        <translation>添加参考文本可提高相似度。</translation>
    </message>
    <message>
        <source>Speak again</source>
        <translation>重新生成</translation>
    </message>
    <message>
        <source>Quality</source>
        <translation>质量</translation>
    </message>
    <message>
        <source>Quality of new takes</source>
        <translation>新音频的质量</translation>
    </message>
    <message>
        <source>More</source>
        <translation>更多</translation>
    </message>
    <message>
        <source>Volume</source>
        <translation>音量</translation>
    </message>
    <message>
        <source>Fade in, out</source>
        <translation>淡入、淡出</translation>
    </message>
    <message>
        <source>Fade in</source>
        <translation>淡入</translation>
    </message>
    <message>
        <source>Fade out</source>
        <translation>淡出</translation>
    </message>
    <message>
        <source>Character</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Make another reading. Changing the speed stretches the existing takes.</source>
        <translation>重新生成一遍。更改语速时，已有音频会直接变速。</translation>
    </message>
    <message>
        <source>Change quality</source>
        <translation>更改质量</translation>
    </message>
    <message>
        <source>Change volume</source>
        <translation>更改音量</translation>
    </message>
    <message>
        <source>Change fade</source>
        <translation>更改淡入淡出</translation>
    </message>
    <message>
        <source>Change character</source>
        <translation>更改角色</translation>
    </message>
    <message>
        <source>Change note</source>
        <translation>更改备注</translation>
    </message>
    <message>
        <source>This model does not follow instructions in your own words. Choose a style from the list, or download {model}.</source>
        <translation>此模型不理解自定义指令。请从列表选择风格，或下载 {model}。</translation>
    </message>
</context>
<context>
    <name>LiveStrip</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Close live figures</source>
        <translation>关闭实时数据</translation>
    </message>
    <message numerus="yes">
        <source>Idle · up to %n line(s) at once</source>
        <translation>
            <numerusform>空闲 · 最多同时生成 %n 行</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{count} of up to %n line(s) at once</source>
        <translation>
            <numerusform>正在生成 {count} 行（最多 %n 行）</numerusform>
        </translation>
    </message>
    <message>
        <source>Stage times appear after the next line</source>
        <translation>生成下一行后显示各阶段用时</translation>
    </message>
    <message>
        <source>language model</source>
        <translation>语言模型</translation>
    </message>
    <message>
        <source>flow</source>
        <translation>流匹配</translation>
    </message>
    <message>
        <source>vocoder</source>
        <translation>声码器</translation>
    </message>
    <message>
        <source>{stage} {seconds:.2f} s</source>
        <translation>{stage} {seconds:.2f} 秒</translation>
    </message>
    <message>
        <source>latency {seconds:.2f} s</source>
        <translation>首音延迟 {seconds:.2f} 秒</translation>
    </message>
    <message>
        <source>network {seconds:.2f} s</source>
        <translation>网络 {seconds:.2f} 秒</translation>
    </message>
    <message>
        <source>RTF there {factor:.2f}</source>
        <translation>对方 RTF {factor:.2f}</translation>
    </message>
    <message>
        <source>network delays up to {seconds:.2f} s</source>
        <translation>网络延迟最大 {seconds:.2f} 秒</translation>
    </message>
    <message>
        <source>Last line: {figures}</source>
        <translation>上一行：{figures}</translation>
    </message>
    <message>
        <source>worker {size}</source>
        <translation>语音进程 {size}</translation>
    </message>
    <message>
        <source>no model loaded</source>
        <translation>未加载模型</translation>
    </message>
    <message>
        <source>GPU {used} of {total}</source>
        <translation>显存 {used} / {total}</translation>
    </message>
    <message>
        <source>Memory: {figures}</source>
        <translation>内存：{figures}</translation>
    </message>
</context>
<context>
    <name>LogPanel</name>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Copy all</source>
        <translation>全部复制</translation>
    </message>
    <message>
        <source>For bug reports (always in English). Saved in {folder}</source>
        <translation>日志（英文），用于反馈问题。保存在 {folder}</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>Tools</source>
        <translation>工具栏</translation>
    </message>
    <message>
        <source>Voices</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>Line</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation>
            <numerusform>%n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>Use this computer</source>
        <translation>改用本机</translation>
    </message>
    <message>
        <source>Queue and log</source>
        <translation>队列和日志</translation>
    </message>
</context>
<context>
    <name>ManualDialog</name>
    <message>
        <source>Manual</source>
        <translation>使用手册</translation>
    </message>
    <message>
        <source>Search the manual</source>
        <translation>搜索手册</translation>
    </message>
    <message>
        <source>Topics</source>
        <translation>目录</translation>
    </message>
</context>
<context>
    <name>ManuscriptDelegate</name>
    <message>
        <source>No voice</source>
        <translation>无音色</translation>
    </message>
    <message>
        <source>This line is locked.</source>
        <translation>此行已锁定。</translation>
    </message>
    <message>
        <source>{style}: not supported by this model</source>
        <translation>{style}：此模型不支持</translation>
    </message>
</context>
<context>
    <name>Menus</name>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Speak</source>
        <translation>生成(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Play</source>
        <translation>播放(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Takes</source>
        <translation>音频(&amp;T)</translation>
    </message>
    <message>
        <source>V&amp;oices</source>
        <translation>音色(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
</context>
<context>
    <name>ModelCard</name>
    <message>
        <source>Progress of {name}</source>
        <translation>{name} 的进度</translation>
    </message>
    <message>
        <source>More</source>
        <translation>更多</translation>
    </message>
    <message>
        <source>More for {name}</source>
        <translation>{name} 的更多操作</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>丢弃</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>删除…</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>使用</translation>
    </message>
    <message>
        <source>Verify</source>
        <translation>校验</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>使用中</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>测速</translation>
    </message>
    <message>
        <source>Measure the speed of {name}</source>
        <translation>测量 {name} 的速度</translation>
    </message>
    <message>
        <source>Missing or damaged: {files}. Repair the model to use it.</source>
        <translation>缺失或损坏：{files}。修复后才能使用该模型。</translation>
    </message>
    <message>
        <source>This version of the program cannot run it.</source>
        <translation>当前版本暂不支持。</translation>
    </message>
    <message>
        <source>RL-tuned language model ({size} extra)</source>
        <translation>强化学习版语言模型（另需 {size}）</translation>
    </message>
    <message>
        <source>Repair</source>
        <translation>修复</translation>
    </message>
    <message>
        <source>Download RL-tuned language model</source>
        <translation>下载强化学习版语言模型</translation>
    </message>
    <message>
        <source>Try now</source>
        <translation>立即重试</translation>
    </message>
    <message>
        <source>Other source</source>
        <translation>换下载源</translation>
    </message>
</context>
<context>
    <name>ModelSpeeds</name>
    <message>
        <source>Speed on this computer: measuring…</source>
        <translation>本机速度：正在测量…</translation>
    </message>
    <message>
        <source>Speed on this computer: RTF {factor:.2f}, latency {latency:.2f} s ({day})</source>
        <translation>本机速度：RTF {factor:.2f}，首音延迟 {latency:.2f} 秒（{day}）</translation>
    </message>
    <message>
        <source>Speed on this computer: not measured</source>
        <translation>本机速度：尚未测量</translation>
    </message>
</context>
<context>
    <name>Models</name>
    <message>
        <source>Installed</source>
        <translation>已安装</translation>
    </message>
    <message>
        <source>Damaged</source>
        <translation>已损坏</translation>
    </message>
    <message>
        <source>Partly downloaded</source>
        <translation>已下载部分</translation>
    </message>
    <message>
        <source>Not installed</source>
        <translation>未安装</translation>
    </message>
    <message>
        <source>Recognises speech, to check takes</source>
        <translation>识别语音，用于检查音频</translation>
    </message>
    <message>
        <source>Chinese</source>
        <translation>中文</translation>
    </message>
    <message>
        <source>English</source>
        <translation>英语</translation>
    </message>
    <message>
        <source>Japanese</source>
        <translation>日语</translation>
    </message>
    <message>
        <source>Korean</source>
        <translation>韩语</translation>
    </message>
    <message>
        <source>German</source>
        <translation>德语</translation>
    </message>
    <message>
        <source>Spanish</source>
        <translation>西班牙语</translation>
    </message>
    <message>
        <source>French</source>
        <translation>法语</translation>
    </message>
    <message>
        <source>Italian</source>
        <translation>意大利语</translation>
    </message>
    <message>
        <source>Russian</source>
        <translation>俄语</translation>
    </message>
    <message>
        <source>Cantonese</source>
        <translation>粤语</translation>
    </message>
    <message>
        <source>Downloading {name}</source>
        <translation>正在下载 {name}</translation>
    </message>
    <message>
        <source>Checking {name}</source>
        <translation>正在校验 {name}</translation>
    </message>
    <message>
        <source>Importing {name}</source>
        <translation>正在导入 {name}</translation>
    </message>
    <message>
        <source>Exporting {name}</source>
        <translation>正在导出 {name}</translation>
    </message>
    <message>
        <source>Removing {name}</source>
        <translation>正在删除 {name}</translation>
    </message>
    <message>
        <source>{count} other languages</source>
        <translation>另外 {count} 种语言</translation>
    </message>
    <message>
        <source>, </source>
        <translation>、</translation>
    </message>
    <message>
        <source>{count} Chinese dialects</source>
        <translation>{count} 种汉语方言</translation>
    </message>
    <message>
        <source>Recommended for this computer: smallest full-quality model for your language.</source>
        <translation>推荐用于本机：适合正式使用的最小中文模型。</translation>
    </message>
    <message>
        <source>Slow without an NVIDIA GPU.</source>
        <translation>没有 NVIDIA 显卡时速度较慢。</translation>
    </message>
    <message>
        <source>licence {licence}</source>
        <translation>许可证 {licence}</translation>
    </message>
    <message>
        <source>from {origin}</source>
        <translation>来自 {origin}</translation>
    </message>
    <message>
        <source>stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>{done} of {all}</source>
        <translation>{done} / {all}</translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>还需 {time}</translation>
    </message>
    <message>
        <source>{file}: {done} of {all}</source>
        <translation>{file}：{done} / {all}</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} 秒</translation>
    </message>
    <message>
        <source>{minutes} min</source>
        <translation>{minutes} 分钟</translation>
    </message>
    <message>
        <source>{hours} h {minutes} min</source>
        <translation>{hours} 小时 {minutes} 分钟</translation>
    </message>
    <message>
        <source>Included</source>
        <translation>程序自带</translation>
    </message>
    <message>
        <source>Not supported yet</source>
        <translation>暂不支持</translation>
    </message>
    <message>
        <source>Clones any voice</source>
        <translation>音色克隆</translation>
    </message>
    <message>
        <source>Built-in voices</source>
        <translation>内置音色</translation>
    </message>
    <message>
        <source>follows style instructions</source>
        <translation>指令控制</translation>
    </message>
    <message>
        <source>streams</source>
        <translation>流式播放</translation>
    </message>
    <message>
        <source>Discarding the download of {name}</source>
        <translation>正在删除 {name} 的未完成下载</translation>
    </message>
    <message>
        <source>{done} of {all} downloaded</source>
        <translation>已下载 {done}，共 {all}</translation>
    </message>
    <message>
        <source>Demonstration model; the others sound far better.</source>
        <translation>仅供演示，正式使用请下载其他模型。</translation>
    </message>
    <message>
        <source>queued</source>
        <translation>排队中</translation>
    </message>
    <message>
        <source>requesting the file list…</source>
        <translation>正在获取文件列表…</translation>
    </message>
    <message>
        <source>retrying in {seconds} s</source>
        <translation>{seconds} 秒后重试</translation>
    </message>
    <message>
        <source>{error} Retrying in {seconds} s.</source>
        <translation>{error}{seconds} 秒后重试。</translation>
    </message>
    <message>
        <source>{size}/s</source>
        <translation>{size}/秒</translation>
    </message>
    <message>
        <source>Download: {size} (about {fast} at {high} Mbit/s, {slow} at {low} Mbit/s)</source>
        <translation>下载大小：{size}（{high} Mbps 下约 {fast}，{low} Mbps 下约 {slow}）</translation>
    </message>
    <message>
        <source>{error} Trying {source}…</source>
        <translation>{error}正在尝试 {source}…</translation>
    </message>
    <message>
        <source>Recommended for this computer: newest model, fits the {size} of {gpu}.</source>
        <translation>推荐用于本机：最新模型，{gpu} 的 {size} 显存足够。</translation>
    </message>
    <message>
        <source>It needs more memory than the {size} of this computer.</source>
        <translation>本机内存 {size}，低于其需求。</translation>
    </message>
    <message>
        <source>There is not enough free disk space for it.</source>
        <translation>磁盘可用空间不足。</translation>
    </message>
    <message>
        <source>{count} preset styles</source>
        <translation>{count} 种预设风格</translation>
    </message>
</context>
<context>
    <name>ModelsController</name>
    <message>
        <source>More models…</source>
        <translation>更多模型…</translation>
    </message>
    <message>
        <source>{name} is installed.</source>
        <translation>{name} 已安装。</translation>
    </message>
    <message>
        <source>Load model</source>
        <translation>加载模型</translation>
    </message>
    <message>
        <source>Another computer…</source>
        <translation>另一台电脑…</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>使用</translation>
    </message>
</context>
<context>
    <name>ModelsPage</name>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Source and folder…</source>
        <translation>下载源和文件夹…</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>导入</translation>
    </message>
    <message>
        <source>Archives (*.zip *.tar *.tar.gz *.tgz *.tar.xz)</source>
        <translation>压缩包 (*.zip *.tar *.tar.gz *.tgz *.tar.xz)</translation>
    </message>
    <message>
        <source>Remove {name} from this computer?</source>
        <translation>要从本机删除 {name} 吗？</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>{name}: {files} damaged. “Repair” downloads only these files.</source>
        <translation>{name}：{files} 已损坏。点击“修复”只会重新下载这些文件。</translation>
    </message>
    <message>
        <source>Another computer…</source>
        <translation>另一台电脑…</translation>
    </message>
    <message>
        <source>{name}: complete. Checksums recorded for the next verification.</source>
        <translation>{name}：文件齐全，已记录校验和，供下次校验使用。</translation>
    </message>
    <message>
        <source>{name}: all files are intact.</source>
        <translation>{name}：所有文件完好。</translation>
    </message>
    <message>
        <source>From folder…</source>
        <translation>从文件夹导入…</translation>
    </message>
    <message>
        <source>From archive…</source>
        <translation>从压缩包导入…</translation>
    </message>
    <message>
        <source>Import model</source>
        <translation>导入模型</translation>
    </message>
    <message>
        <source>Export model</source>
        <translation>导出模型</translation>
    </message>
    <message>
        <source>This frees {size}. Voices and scripts are kept.</source>
        <translation>将释放 {size}。音色和脚本不受影响。</translation>
    </message>
    <message>
        <source>Source: {source}, else {others} · Folder: {folder}</source>
        <translation>下载源：{source}，备用：{others} · 文件夹：{folder}</translation>
    </message>
    <message>
        <source>Source: {source} · Folder: {folder}</source>
        <translation>下载源：{source} · 文件夹：{folder}</translation>
    </message>
    <message>
        <source>, </source>
        <translation>、</translation>
    </message>
    <message numerus="yes">
        <source>Not supported yet (%n)</source>
        <translation>
            <numerusform>暂不支持（%n）</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>NamePreview</name>
    <message numerus="yes">
        <source>%n file(s):</source>
        <translation>
            <numerusform>%n 个文件：</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>… and %n more line(s)</source>
        <translation>
            <numerusform>……还有 %n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>File names</source>
        <translation>文件名</translation>
    </message>
    <message>
        <source>Show only changes</source>
        <translation>仅显示有变化的文件</translation>
    </message>
    <message numerus="yes">
        <source>%n new</source>
        <translation>
            <numerusform>%n 个新文件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n replaced</source>
        <translation>
            <numerusform>%n 个将被替换</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n up to date</source>
        <translation>
            <numerusform>%n 个无需更改</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s): {changes}</source>
        <translation>
            <numerusform>共 %n 个文件：{changes}</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>NoteField</name>
    <message>
        <source>(mixed)</source>
        <translation>（多个值）</translation>
    </message>
</context>
<context>
    <name>NotificationBar</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Close notice</source>
        <translation>关闭通知</translation>
    </message>
    <message>
        <source>More…</source>
        <translation>展开…</translation>
    </message>
    <message>
        <source>Less</source>
        <translation>收起</translation>
    </message>
    <message numerus="yes">
        <source>%n more</source>
        <translation>
            <numerusform>还有 %n 条</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>NumberField</name>
    <message>
        <source>(mixed)</source>
        <translation>（多个值）</translation>
    </message>
</context>
<context>
    <name>OddLength</name>
    <message>
        <source>This take is longer than expected for its text. Listen to it and keep it, or speak the line again.</source>
        <translation>这条音频比预期的时长长。请试听后保留，或重新生成此行。</translation>
    </message>
    <message>
        <source>This take is shorter than expected for its text. Listen to it and keep it, or speak the line again.</source>
        <translation>这条音频比预期的时长短。请试听后保留，或重新生成此行。</translation>
    </message>
</context>
<context>
    <name>OtherServerFields</name>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>This server runs Triton with a model of CosyVoice. It clones voices that have a recording and a transcript; both are sent with each sentence. It has no styles, seeds or sampling options, cannot convert recordings, and gives less evidence to the checks of takes.</source>
        <translation>此服务器用 Triton 运行 CosyVoice 模型。它可以克隆同时有录音和参考文本的音色，二者会随每个句子发送。它没有风格、随机种子和采样选项，不能转换录音，音频质检的依据也较少。</translation>
    </message>
    <message>
        <source>This server belongs to another program. It uses its own voices: the one with the name of a line&apos;s voice, otherwise the voice chosen here. It has no cloned voices, styles, seeds or sampling options, cannot convert recordings, and gives less evidence to the checks of takes.</source>
        <translation>此服务器属于其他程序，由它自己的音色生成：优先使用与该行音色同名的音色，否则使用这里选择的音色。它没有克隆音色、风格、随机种子和采样选项，不能转换录音，音频质检的依据也较少。</translation>
    </message>
</context>
<context>
    <name>OutlineDialog</name>
    <message>
        <source>Chapters and scenes</source>
        <translation>章节列表</translation>
    </message>
    <message>
        <source>Untitled</source>
        <translation>未命名</translation>
    </message>
    <message>
        <source>{title} ({count})</source>
        <translation>{title}（{count}）</translation>
    </message>
</context>
<context>
    <name>Phrases</name>
    <message>
        <source>, </source>
        <translation>，</translation>
    </message>
    <message>
        <source>{label}: {words}</source>
        <translation>{label}：{words}</translation>
    </message>
    <message>
        <source>. </source>
        <translation>。</translation>
    </message>
    <message>
        <source>{before} {after}</source>
        <translation>{before}{after}</translation>
    </message>
</context>
<context>
    <name>PlayButton</name>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
</context>
<context>
    <name>PolicyDialog</name>
    <message>
        <source>Checks of this script</source>
        <translation>此脚本的检查设置</translation>
    </message>
    <message>
        <source>These choices are saved with the script and apply to new takes.</source>
        <translation>这些选择随脚本保存，对新音频生效。</translation>
    </message>
    <message>
        <source>Change checks</source>
        <translation>更改检查设置</translation>
    </message>
    <message>
        <source>As in the settings ({choice})</source>
        <translation>与设置相同（{choice}）</translation>
    </message>
</context>
<context>
    <name>Preferences</name>
    <message>
        <source>Choose…</source>
        <translation>选择…</translation>
    </message>
    <message>
        <source>{device} (not connected)</source>
        <translation>{device}（未连接）</translation>
    </message>
    <message>
        <source>System default</source>
        <translation>系统默认</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>{name} ({free} of {all} free)</source>
        <translation>{name}（可用 {free} / 共 {all}）</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
</context>
<context>
    <name>PreferencesDialog</name>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Settings pages</source>
        <translation>设置页面</translation>
    </message>
    <message>
        <source>Restore defaults</source>
        <translation>恢复默认值</translation>
    </message>
</context>
<context>
    <name>ProgressPage</name>
    <message>
        <source>Export progress</source>
        <translation>导出进度</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Cancel export</source>
        <translation>取消导出</translation>
    </message>
    <message>
        <source>Continue in background</source>
        <translation>在后台继续</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
</context>
<context>
    <name>PronunciationPage</name>
    <message>
        <source>Add word</source>
        <translation>添加词语</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>删除</translation>
    </message>
    <message numerus="yes">
        <source>Sent to the model as {words}. Used in %n line(s) of this script.</source>
        <translation>
            <numerusform>模型收到的内容：{words}。此脚本有 %n 行用到。</numerusform>
        </translation>
    </message>
    <message>
        <source>Play</source>
        <translation>试听</translation>
    </message>
    <message>
        <source>Play this word in the current line&apos;s voice</source>
        <translation>用当前行的音色试听此词</translation>
    </message>
    <message>
        <source>Add a mispronounced word and how to read it.</source>
        <translation>添加读错的词，并填写正确读法。</translation>
    </message>
</context>
<context>
    <name>QFileDialog</name>
    <message>
        <source>&amp;Look in:</source>
        <translation>查找范围(&amp;L)：</translation>
    </message>
    <message>
        <source>Files of &amp;type:</source>
        <translation>文件类型(&amp;T)：</translation>
    </message>
</context>
<context>
    <name>QFileSystemModel</name>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
</context>
<context>
    <name>QKeySequenceEdit</name>
    <message>
        <source>Press shortcut</source>
        <translation>请按下快捷键</translation>
    </message>
</context>
<context>
    <name>QLineEdit</name>
    <message>
        <source>&amp;Undo</source>
        <translation>撤销(&amp;U)</translation>
    </message>
</context>
<context>
    <name>QWidgetTextControl</name>
    <message>
        <source>&amp;Undo</source>
        <translation>撤销(&amp;U)</translation>
    </message>
</context>
<context>
    <name>Qualities</name>
    <message>
        <source>Exact</source>
        <translation>精确</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>快速</translation>
    </message>
    <message>
        <source>Draft</source>
        <translation>草稿</translation>
    </message>
    <message>
        <source>As the model was released.</source>
        <translation>按模型发布时的设置计算。</translation>
    </message>
    <message>
        <source>Less work: within 0.6 dB of exact in a short test, which is hard to hear.</source>
        <translation>计算量较少，短测试中与精确结果相差不超过 0.6 dB，很难听出区别。</translation>
    </message>
    <message>
        <source>Least work: within 1.6 dB of exact in a short test. For trying out readings.</source>
        <translation>计算量最少，短测试中与精确结果相差不超过 1.6 dB，用于试听读法。</translation>
    </message>
</context>
<context>
    <name>QualityDialog</name>
    <message>
        <source>Quality of this script</source>
        <translation>此脚本的质量</translation>
    </message>
    <message>
        <source>Applies to new takes of lines without a quality of their own. The distance is measured on this computer at first use. Takes that are not exact are marked; Speak &gt; Make drafts final speaks them again exactly, with the same reading.</source>
        <translation>适用于未单独设置质量的行的新音频。首次使用时在本机测量差距。非精确的音频会有标记；“生成 › 将草稿转为成品”以相同的读法精确重新生成。</translation>
    </message>
    <message>
        <source>Change quality</source>
        <translation>更改质量</translation>
    </message>
</context>
<context>
    <name>QueuePanel</name>
    <message>
        <source>Queue</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Clear finished</source>
        <translation>清除已完成</translation>
    </message>
    <message>
        <source>Connecting again</source>
        <translation>正在重新连接</translation>
    </message>
    <message>
        <source>Queued</source>
        <translation>排队中</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>正在加载模型</translation>
    </message>
    <message>
        <source>Preparing the voice</source>
        <translation>正在准备音色</translation>
    </message>
    <message>
        <source>Speaking</source>
        <translation>生成中</translation>
    </message>
    <message>
        <source>about {time}</source>
        <translation>约 {time}</translation>
    </message>
    <message>
        <source>The queue is empty.</source>
        <translation>队列为空。</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) left</source>
        <translation>
            <numerusform>剩余 %n 行</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>QuotationModel</name>
    <message>
        <source>assigned by you</source>
        <translation>由您指定</translation>
    </message>
    <message>
        <source>continues {line}</source>
        <translation>接第 {line} 句</translation>
    </message>
    <message>
        <source>same paragraph as {line}</source>
        <translation>与第 {line} 句同段</translation>
    </message>
    <message>
        <source>alternates with {line}</source>
        <translation>与第 {line} 句轮流对话</translation>
    </message>
    <message>
        <source>addressed in {line}</source>
        <translation>第 {line} 句中被称呼</translation>
    </message>
    <message>
        <source>named nearby</source>
        <translation>附近提到</translation>
    </message>
    <message>
        <source>not named</source>
        <translation>没有提到</translation>
    </message>
    <message>
        <source>Speaker</source>
        <translation>说话人</translation>
    </message>
    <message>
        <source>Quotation</source>
        <translation>引语</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>依据</translation>
    </message>
    <message>
        <source>Narrator</source>
        <translation>旁白</translation>
    </message>
    <message>
        <source>{name}?</source>
        <translation>{name}？</translation>
    </message>
</context>
<context>
    <name>RecentFiles</name>
    <message>
        <source>Open recent</source>
        <translation>最近打开</translation>
    </message>
    <message>
        <source>Clear list</source>
        <translation>清空列表</translation>
    </message>
</context>
<context>
    <name>RecordedTakes</name>
    <message>
        <source>Use a recording of this line as a take</source>
        <translation>选择这一行的录音</translation>
    </message>
    <message>
        <source>Reading {file}…</source>
        <translation>正在读取 {file}…</translation>
    </message>
    <message>
        <source>Use recording as take</source>
        <translation>使用录音</translation>
    </message>
    <message>
        <source>The recording is take {number} of the line.</source>
        <translation>录音已成为这一行的第 {number} 条音频。</translation>
    </message>
</context>
<context>
    <name>RecorderDialog</name>
    <message>
        <source>Record voice</source>
        <translation>录制音色</translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation>麦克风</translation>
    </message>
    <message>
        <source>Nothing recorded yet</source>
        <translation>尚未录音</translation>
    </message>
    <message>
        <source>Use this recording</source>
        <translation>使用这段录音</translation>
    </message>
    <message>
        <source>&amp;Microphone</source>
        <translation>麦克风(&amp;M)</translation>
    </message>
    <message>
        <source>Opening the microphone…</source>
        <translation>正在打开麦克风…</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Record again</source>
        <translation>重新录音</translation>
    </message>
    <message>
        <source>Record</source>
        <translation>录音</translation>
    </message>
    <message>
        <source>{seconds:.1f} seconds recorded.</source>
        <translation>已录 {seconds:.1f} 秒。</translation>
    </message>
    <message>
        <source>Speak in {number}…</source>
        <translation>{number} 秒后开始录音…</translation>
    </message>
    <message>
        <source>Recording: {seconds:.1f} s</source>
        <translation>正在录音：{seconds:.1f} 秒</translation>
    </message>
    <message>
        <source>The harbour was quiet that morning. A single boat came in, slow and low in the water, and the gulls, who know such things, went out to meet it.</source>
        <translation>那天早晨，港口很安静。一只小船慢慢地驶进来，吃水很深，海鸥们好像早就知道，纷纷飞出去迎接它。</translation>
    </message>
    <message>
        <source>Refresh microphones</source>
        <translation>刷新麦克风列表</translation>
    </message>
    <message>
        <source>Read this text aloud:</source>
        <translation>我将朗读以下文字：</translation>
    </message>
    <message>
        <source>Uses the text as the transcript, for a closer likeness</source>
        <translation>这段文字将作为参考文本，可提高相似度</translation>
    </message>
    <message>
        <source>Microphone level</source>
        <translation>麦克风电平</translation>
    </message>
    <message>
        <source>Stop after 2 s silence</source>
        <translation>静音 2 秒后停止</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>播放</translation>
    </message>
    <message>
        <source>Three to ten seconds are enough. Record in a quiet room, about 10 cm from the microphone.</source>
        <translation>3 到 10 秒即可。请在安静的房间录制，距麦克风约 10 厘米。</translation>
    </message>
    <message>
        <source>System default</source>
        <translation>系统默认</translation>
    </message>
    <message>
        <source>Say something: the level should reach the middle of the bar.</source>
        <translation>请试说一句，电平应到中间位置。</translation>
    </message>
    <message>
        <source>Some audio was lost because the computer was busy. Please record again.</source>
        <translation>电脑负载过高，丢失了部分音频，请重新录制。</translation>
    </message>
</context>
<context>
    <name>RecoveryDialog</name>
    <message>
        <source>Unsaved work</source>
        <translation>未保存的内容</translation>
    </message>
    <message>
        <source>Recover</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>稍后</translation>
    </message>
    <message>
        <source>Never saved</source>
        <translation>从未保存</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s)</source>
        <translation>
            <numerusform>%n 行</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n take(s)</source>
        <translation>
            <numerusform>%n 条音频</numerusform>
        </translation>
    </message>
    <message>
        <source>Recover unsaved work</source>
        <translation>恢复未保存的内容</translation>
    </message>
    <message>
        <source>The program closed unexpectedly. Unsaved work can be recovered.</source>
        <translation>程序意外退出，有未保存的内容可以恢复。</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>This work was never saved. Deleting it cannot be undone.</source>
        <translation>此内容从未保存，删除后无法恢复。</translation>
    </message>
    <message>
        <source>The changes since the last save will be lost. The saved script stays.</source>
        <translation>上次保存之后的改动将丢失，已保存的脚本不受影响。</translation>
    </message>
    <message>
        <source>Delete permanently</source>
        <translation>永久删除</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保留</translation>
    </message>
</context>
<context>
    <name>ReplaceQuestion</name>
    <message>
        <source>Replace files</source>
        <translation>替换文件</translation>
    </message>
    <message numerus="yes">
        <source>Replace %n file(s)?</source>
        <translation>
            <numerusform>要替换 %n 个文件吗？</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>另有 %n 个</numerusform>
        </translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>替换</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>These files in {folder} belong to another script or other lines, or were changed after the export:</source>
        <translation>{folder} 中的这些文件属于其他脚本或其他行，或在导出后被修改过：</translation>
    </message>
</context>
<context>
    <name>ResultPage</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Line {number}: {error}</source>
        <translation>第 {number} 行：{error}</translation>
    </message>
    <message>
        <source>Failed lines</source>
        <translation>失败的行</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) written.</source>
        <translation>
            <numerusform>已生成 %n 个文件。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) up to date.</source>
        <translation>
            <numerusform>%n 个文件已是最新。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sound(s) or direction(s) not exported.</source>
        <translation>
            <numerusform>%n 行音效或舞台提示未导出。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) too long for the slot.</source>
        <translation>
            <numerusform>%n 行超出时段。</numerusform>
        </translation>
    </message>
    <message>
        <source>Export finished</source>
        <translation>导出完成</translation>
    </message>
    <message>
        <source>Export cancelled</source>
        <translation>导出已取消</translation>
    </message>
    <message>
        <source>Finished files are kept; the next export continues from there.</source>
        <translation>已完成的文件会保留，下次导出将从中断处继续。</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) missing:</source>
        <translation>
            <numerusform>缺少 %n 行：</numerusform>
        </translation>
    </message>
    <message>
        <source>Show folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Show these lines</source>
        <translation>显示这些行</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Check levels…</source>
        <translation>检查电平…</translation>
    </message>
    <message>
        <source>Export the others</source>
        <translation>导出其余行</translation>
    </message>
    <message>
        <source>Replace files</source>
        <translation>替换文件</translation>
    </message>
    <message>
        <source>Nothing has been exported yet.</source>
        <translation>尚未导出任何文件。</translation>
    </message>
    <message>
        <source>If you export the others, these lines are missing from the joined file.</source>
        <translation>如果导出其余行，合并文件中将缺少这些行。</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) could not be spoken</source>
        <translation>
            <numerusform>%n 行生成失败</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) with problems.</source>
        <translation>
            <numerusform>有 %n 行存在问题。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ReviewController</name>
    <message>
        <source>Checks of takes</source>
        <translation>音频质检</translation>
    </message>
    <message>
        <source>The take has no unaccepted problems.</source>
        <translation>这条音频没有尚未接受的问题。</translation>
    </message>
    <message>
        <source>Approve take</source>
        <translation>通过这条音频</translation>
    </message>
    <message numerus="yes">
        <source>%n take(s) accepted.</source>
        <translation>
            <numerusform>已接受 %n 条音频。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n other automatic take(s) removed.</source>
        <translation>
            <numerusform>已删除另外 %n 条自动重新生成的音频。</numerusform>
        </translation>
    </message>
    <message>
        <source>No other line needs review.</source>
        <translation>没有其他需试听的行。</translation>
    </message>
    <message>
        <source>There is no take that can be checked.</source>
        <translation>没有可检查的音频。</translation>
    </message>
    <message>
        <source>Choose best take</source>
        <translation>选用最佳的一条</translation>
    </message>
    <message numerus="yes">
        <source>%n other take(s) chosen.</source>
        <translation>
            <numerusform>已改选 %n 条音频。</numerusform>
        </translation>
    </message>
    <message>
        <source>The best take is already chosen, or the takes have not been checked.</source>
        <translation>已选用最佳的一条，或音频尚未检查。</translation>
    </message>
    <message>
        <source>Script</source>
        <translation>脚本</translation>
    </message>
    <message>
        <source>Report of checks</source>
        <translation>检查报告</translation>
    </message>
    <message>
        <source>Web page (*.html)</source>
        <translation>网页 (*.html)</translation>
    </message>
    <message>
        <source>Table (*.csv)</source>
        <translation>表格 (*.csv)</translation>
    </message>
    <message>
        <source>Report saved: {file}</source>
        <translation>已保存报告：{file}</translation>
    </message>
    <message numerus="yes">
        <source>Checking %n take(s)</source>
        <translation>
            <numerusform>正在检查 %n 条音频</numerusform>
        </translation>
    </message>
    <message>
        <source>Takes are checked in the background; synthesis continues.</source>
        <translation>音频在后台检查，不影响语音生成。</translation>
    </message>
</context>
<context>
    <name>RowWords</name>
    <message>
        <source>slot {slot:.1f} s</source>
        <translation>字幕 {slot:.1f} 秒</translation>
    </message>
    <message>
        <source>{take:.1f} / {slot:.1f} s</source>
        <translation>{take:.1f} / {slot:.1f} 秒</translation>
    </message>
</context>
<context>
    <name>ScriptImporter</name>
    <message>
        <source>{name} resembles {source}, from which this script was imported.</source>
        <translation>{name} 与当前脚本的来源 {source} 大部分相同。</translation>
    </message>
    <message>
        <source>This script was imported from {name}.</source>
        <translation>当前脚本是从 {name} 导入的。</translation>
    </message>
    <message>
        <source>An update changes only the lines that differ. Another import inserts all lines again.</source>
        <translation>更新只修改有变化的行；再次导入会把所有行重新插入一遍。</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>Import again</source>
        <translation>再次导入</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Removed from {name}</source>
        <translation>{name} 中已删除</translation>
    </message>
    <message>
        <source>{name} contains no changes.</source>
        <translation>{name} 没有变化。</translation>
    </message>
    <message>
        <source>Update from {name}</source>
        <translation>从 {name} 更新</translation>
    </message>
</context>
<context>
    <name>ScriptNavigation</name>
    <message>
        <source>No line has failed.</source>
        <translation>没有失败的行。</translation>
    </message>
    <message>
        <source>No line needs review.</source>
        <translation>没有需试听的行。</translation>
    </message>
    <message>
        <source>There are no more chapters or scenes.</source>
        <translation>没有更多章节或场景了。</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) selected</source>
        <translation>
            <numerusform>已选择 %n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>The script has no chapters. Select a line and press Ctrl+Alt+1 to start one.</source>
        <translation>脚本中没有章节。选中一行并按 Ctrl+Alt+1 可新建一章。</translation>
    </message>
</context>
<context>
    <name>ScriptPage</name>
    <message>
        <source>New line</source>
        <translation>新建行</translation>
    </message>
    <message>
        <source>Paste lines</source>
        <translation>粘贴行</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) pasted</source>
        <translation>
            <numerusform>已粘贴 %n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>Import lines</source>
        <translation>导入行</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) imported</source>
        <translation>
            <numerusform>已导入 %n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>Convert recording</source>
        <translation>转换录音</translation>
    </message>
    <message>
        <source>Duplicate lines</source>
        <translation>创建副本</translation>
    </message>
    <message>
        <source>Remove lines</source>
        <translation>删除行</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) removed</source>
        <translation>
            <numerusform>已删除 %n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>Split line</source>
        <translation>拆分行</translation>
    </message>
    <message>
        <source>Merge lines</source>
        <translation>合并行</translation>
    </message>
    <message>
        <source>Move lines</source>
        <translation>移动行</translation>
    </message>
    <message>
        <source>Lock line</source>
        <translation>锁定行</translation>
    </message>
    <message>
        <source>Unlock line</source>
        <translation>解锁行</translation>
    </message>
    <message>
        <source>Change voice</source>
        <translation>更改音色</translation>
    </message>
    <message>
        <source> and selected: voice, style and Ctrl+Enter apply to all</source>
        <translation>并全部选中：音色、风格和 Ctrl+Enter 对这些行同时生效</translation>
    </message>
    <message>
        <source>To split a line, place the cursor at the split position.</source>
        <translation>要拆分一行，请将光标放在拆分处。</translation>
    </message>
    <message>
        <source>Locked lines are not changed. Press Ctrl+L to unlock them.</source>
        <translation>已锁定的行不会更改。按 Ctrl+L 解锁。</translation>
    </message>
    <message>
        <source>Chapter heading</source>
        <translation>章标题</translation>
    </message>
    <message>
        <source>Scene heading</source>
        <translation>场景标题</translation>
    </message>
    <message>
        <source>Note, not spoken</source>
        <translation>备注（不生成语音）</translation>
    </message>
    <message>
        <source>Spoken text</source>
        <translation>台词文本</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) copied</source>
        <translation>
            <numerusform>已复制 %n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>Cut lines</source>
        <translation>剪切行</translation>
    </message>
</context>
<context>
    <name>ScriptView</name>
    <message>
        <source>Script</source>
        <translation>脚本</translation>
    </message>
</context>
<context>
    <name>ServerDialog</name>
    <message>
        <source>Another computer</source>
        <translation>另一台电脑</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>令牌</translation>
    </message>
    <message>
        <source>Show token</source>
        <translation>显示令牌</translation>
    </message>
    <message>
        <source>Lines are synthesised on a computer that runs “timbre serve”. The voices you use are sent to it once; scripts, takes and checks stay here. Addresses of Triton begin with grpc://.</source>
        <translation>由运行“timbre serve”的电脑生成语音。用到的音色会发送一次；脚本、音频和检查都留在本机。Triton 的地址以 grpc:// 开头。</translation>
    </message>
    <message>
        <source>Texts, voices and the token are not encrypted over http and grpc. Use them only in a network you trust.</source>
        <translation>通过 http 和 grpc 传输的文本、音色和令牌不加密，请仅在可信网络中使用。</translation>
    </message>
    <message>
        <source>Test connection</source>
        <translation>测试连接</translation>
    </message>
    <message>
        <source>Use this address</source>
        <translation>使用此地址</translation>
    </message>
    <message>
        <source>Use this computer</source>
        <translation>改用本机</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>正在连接…</translation>
    </message>
    <message>
        <source>{model} on {device}; network {milliseconds:.0f} ms</source>
        <translation>{model}，运行于 {device}；网络 {milliseconds:.0f} 毫秒</translation>
    </message>
    <message>
        <source>Connected. Choose a model, then use this address.</source>
        <translation>已连接。请选择模型，然后使用此地址。</translation>
    </message>
    <message>
        <source>Connected. Choose a model and a voice, then use this address.</source>
        <translation>已连接。请选择模型和音色，然后使用此地址。</translation>
    </message>
</context>
<context>
    <name>ServingDialog</name>
    <message>
        <source>Serve voices</source>
        <translation>音色服务</translation>
    </message>
    <message>
        <source>Other programs on this computer can use your voices, as they use OpenAI&apos;s speech API. Enter the address and the key in their settings.</source>
        <translation>本机的其他程序可以像使用 OpenAI 语音 API 一样使用这些音色。请在这些程序的设置中填写地址和密钥。</translation>
    </message>
    <message>
        <source>Serve this computer&apos;s voices</source>
        <translation>向其他程序提供本机音色</translation>
    </message>
    <message>
        <source>Start with the program</source>
        <translation>随程序启动</translation>
    </message>
    <message>
        <source>Show key</source>
        <translation>显示密钥</translation>
    </message>
    <message>
        <source>Copy address</source>
        <translation>复制地址</translation>
    </message>
    <message>
        <source>Copy key</source>
        <translation>复制密钥</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>API key</source>
        <translation>API 密钥</translation>
    </message>
    <message>
        <source>Test</source>
        <translation>测试</translation>
    </message>
    <message>
        <source>Send a short request to the service</source>
        <translation>向服务发送一个简短的请求</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Program</source>
        <translation>程序</translation>
    </message>
    <message>
        <source>Request</source>
        <translation>请求</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Duration</source>
        <translation>用时</translation>
    </message>
    <message>
        <source>Last requests</source>
        <translation>最近的请求</translation>
    </message>
    <message>
        <source>Port</source>
        <translation>端口</translation>
    </message>
    <message>
        <source>Voice for a name</source>
        <translation>名称对应的音色</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>请求</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>未开启</translation>
    </message>
    <message>
        <source>{running} running, {waiting} waiting, {served} answered</source>
        <translation>{running} 个处理中，{waiting} 个排队，{served} 个已完成</translation>
    </message>
    <message>
        <source>Use port {port}</source>
        <translation>使用端口 {port}</translation>
    </message>
    <message>
        <source>Waiting for the answer…</source>
        <translation>等待应答…</translation>
    </message>
    <message>
        <source>The service answered with {seconds:.1f} s of speech.</source>
        <translation>服务已应答，返回 {seconds:.1f} 秒语音。</translation>
    </message>
    <message>
        <source>{seconds:.1f} s</source>
        <translation>{seconds:.1f} 秒</translation>
    </message>
    <message>
        <source>None</source>
        <translation>暂无</translation>
    </message>
</context>
<context>
    <name>Settings</name>
    <message>
        <source>Window</source>
        <translation>窗口</translation>
    </message>
    <message>
        <source>Script</source>
        <translation>脚本</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>s</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>min</source>
        <translation>分钟</translation>
    </message>
    <message>
        <source>Never</source>
        <translation>从不</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>The language of menus and messages.</source>
        <translation>菜单和消息的语言。</translation>
    </message>
    <message>
        <source>32-bit float (reference)</source>
        <translation>32 位浮点（基准）</translation>
    </message>
    <message>
        <source>16-bit bfloat</source>
        <translation>16 位 bfloat</translation>
    </message>
    <message>
        <source>16-bit float</source>
        <translation>16 位浮点</translation>
    </message>
    <message>
        <source>8-bit integers</source>
        <translation>8 位整数</translation>
    </message>
    <message>
        <source>Run model on</source>
        <translation>运行模型的设备</translation>
    </message>
    <message>
        <source>Faster engines</source>
        <translation>更快的引擎</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Download models from</source>
        <translation>模型下载源</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>One for all lines</source>
        <translation>所有行合并为一个</translation>
    </message>
    <message>
        <source>Both</source>
        <translation>两者都生成</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>WAV, 16 bit</source>
        <translation>WAV，16 位</translation>
    </message>
    <message>
        <source>WAV, 24 bit</source>
        <translation>WAV，24 位</translation>
    </message>
    <message>
        <source>WAV, 32-bit float</source>
        <translation>WAV，32 位浮点</translation>
    </message>
    <message>
        <source>FLAC, 16 bit</source>
        <translation>FLAC，16 位</translation>
    </message>
    <message>
        <source>FLAC, 24 bit</source>
        <translation>FLAC，24 位</translation>
    </message>
    <message>
        <source>Sample rate</source>
        <translation>采样率</translation>
    </message>
    <message>
        <source>Pause between lines</source>
        <translation>行间停顿</translation>
    </message>
    <message>
        <source>Loudness</source>
        <translation>响度</translation>
    </message>
    <message>
        <source>Subtitles</source>
        <translation>字幕</translation>
    </message>
    <message>
        <source>Keep leading silence</source>
        <translation>保留开头的静音</translation>
    </message>
    <message>
        <source>Same as system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Light, dark, or the desktop&apos;s setting.</source>
        <translation>浅色、深色，或跟随系统设置。</translation>
    </message>
    <message>
        <source>Same as desktop</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Split pasted or imported text</source>
        <translation>粘贴或导入文本时拆分为</translation>
    </message>
    <message>
        <source>Short lines are quicker to redo; paragraphs keep a natural intonation across sentences.</source>
        <translation>短行便于重新生成；整段朗读语调更连贯。</translation>
    </message>
    <message>
        <source>One line per sentence</source>
        <translation>每句一行</translation>
    </message>
    <message>
        <source>One line per paragraph</source>
        <translation>每段一行</translation>
    </message>
    <message>
        <source>Pause after new lines</source>
        <translation>新行后的停顿</translation>
    </message>
    <message>
        <source>Silence before the next line when lines are played in sequence or joined.</source>
        <translation>连续播放或合并导出时，与下一行之间的静音时长。</translation>
    </message>
    <message>
        <source>Autosave interval</source>
        <translation>自动保存间隔</translation>
    </message>
    <message>
        <source>For scripts saved to a file. After a crash, unsaved work can always be recovered at the next start.</source>
        <translation>适用于已保存为文件的脚本。程序意外退出后，下次启动时可恢复未保存的内容。</translation>
    </message>
    <message>
        <source>Output device</source>
        <translation>输出设备</translation>
    </message>
    <message>
        <source>If it is disconnected, the system default is used.</source>
        <translation>设备断开时使用系统默认设备。</translation>
    </message>
    <message>
        <source>Keep up to 0.4 s of silence before the first word. New takes only.</source>
        <translation>保留首个词之前最长 0.4 秒的静音。仅对新音频有效。</translation>
    </message>
    <message>
        <source>Number of takes</source>
        <translation>音频条数</translation>
    </message>
    <message>
        <source>Takes per line for “Speak several takes”, each with a different seed.</source>
        <translation>“生成多条音频”为每行生成的条数，各用不同的种子。</translation>
    </message>
    <message>
        <source>Language model precision</source>
        <translation>语言模型精度</translation>
    </message>
    <message>
        <source>Automatic uses the fastest precision that passes a quality check on this computer. You can override it.</source>
        <translation>自动使用本机上通过质量检查的最快精度，也可手动指定。</translation>
    </message>
    <message>
        <source>Automatic (fastest that passes)</source>
        <translation>自动（通过检查的最快精度）</translation>
    </message>
    <message>
        <source>Find and use</source>
        <translation>查找并使用</translation>
    </message>
    <message>
        <source>Use verified engines only</source>
        <translation>仅使用已验证的</translation>
    </message>
    <message>
        <source>CPU threads</source>
        <translation>CPU 线程数</translation>
    </message>
    <message>
        <source>Fewer threads leave more CPU time for other programs.</source>
        <translation>线程越少，留给其他程序的 CPU 时间越多。</translation>
    </message>
    <message>
        <source>Hugging Face address</source>
        <translation>Hugging Face 地址</translation>
    </message>
    <message>
        <source>ModelScope address</source>
        <translation>ModelScope 地址</translation>
    </message>
    <message>
        <source>Models folder</source>
        <translation>模型文件夹</translation>
    </message>
    <message>
        <source>Folder for newly installed models (3 to 7 GB each). Models already installed are not moved.</source>
        <translation>新安装的模型保存在此（每个 3 到 7 GB）。已安装的模型不会移动。</translation>
    </message>
    <message>
        <source>In the program&apos;s data folder</source>
        <translation>程序数据文件夹</translation>
    </message>
    <message>
        <source>Prefer the RL-tuned language model</source>
        <translation>优先使用强化学习版语言模型</translation>
    </message>
    <message>
        <source>Folder for exported audio files.</source>
        <translation>音频文件的导出位置。</translation>
    </message>
    <message>
        <source>Next to the script</source>
        <translation>脚本所在文件夹</translation>
    </message>
    <message>
        <source>Separate files suit video, one file suits podcasts.</source>
        <translation>每行一个文件适合视频制作，单个文件适合播客。</translation>
    </message>
    <message>
        <source>One per line</source>
        <translation>每行一个</translation>
    </message>
    <message>
        <source>File name pattern</source>
        <translation>命名规则</translation>
    </message>
    <message>
        <source>WAV and FLAC are lossless; MP3, Vorbis and Opus are smaller.</source>
        <translation>WAV 和 FLAC 无损；MP3、Vorbis 和 Opus 文件更小。</translation>
    </message>
    <message>
        <source>The models generate 24 kHz. Video usually uses 48 kHz, music 44.1 kHz.</source>
        <translation>模型输出为 24 kHz；视频常用 48 kHz，音乐常用 44.1 kHz。</translation>
    </message>
    <message>
        <source>Same pause after every line</source>
        <translation>每行后使用相同停顿</translation>
    </message>
    <message>
        <source>In a joined file. Otherwise each line keeps its own pause.</source>
        <translation>用于合并文件；否则使用各行自己的停顿。</translation>
    </message>
    <message>
        <source>Silence between one line and the next.</source>
        <translation>相邻两行之间的静音时长。</translation>
    </message>
    <message>
        <source>Normalise loudness</source>
        <translation>响度标准化</translation>
    </message>
    <message>
        <source>Bring every file to the loudness below, without clipping.</source>
        <translation>将每个文件调整到下方响度，且不削波。</translation>
    </message>
    <message>
        <source>Typical: -16 for podcasts, -19 for audiobooks, -23 for broadcast.</source>
        <translation>常用值：播客 -16，有声书 -19，广播 -23。</translation>
    </message>
    <message>
        <source>True-peak limit</source>
        <translation>真峰值上限</translation>
    </message>
    <message>
        <source>Maximum true peak of exported audio; -1 is typical.</source>
        <translation>导出音频的最大真峰值，常用 -1。</translation>
    </message>
    <message>
        <source>Trim silence</source>
        <translation>去除首尾静音</translation>
    </message>
    <message>
        <source>A short, faded part of the silence is kept.</source>
        <translation>保留一小段静音并淡入淡出。</translation>
    </message>
    <message>
        <source>Write a manifest (CSV)</source>
        <translation>生成清单（CSV）</translation>
    </message>
    <message>
        <source>Text, voice and duration of each line.</source>
        <translation>包含每行的文本、音色和时长。</translation>
    </message>
    <message>
        <source>Speech and playback</source>
        <translation>生成与播放</translation>
    </message>
    <message>
        <source>llm.rl.pt of Fun-CosyVoice3 (2 GB extra), used if it is installed.</source>
        <translation>Fun-CosyVoice3 的 llm.rl.pt（另需 2 GB），安装后使用。</translation>
    </message>
    <message>
        <source>24 kHz</source>
        <translation>24 kHz</translation>
    </message>
    <message>
        <source>44.1 kHz</source>
        <translation>44.1 kHz</translation>
    </message>
    <message>
        <source>48 kHz</source>
        <translation>48 kHz</translation>
    </message>
    <message>
        <source>A recording of the silent room, for the pauses of mastered audio.</source>
        <translation>录制安静房间得到的音频，用于母带处理后的停顿。</translation>
    </message>
    <message>
        <source>At their times, one file per language</source>
        <translation>按原始时间，每种语言一个文件</translation>
    </message>
    <message>
        <source>Automatic uses 16 or 8 bits where they are faster and pass a quality check, also for the vocoder.</source>
        <translation>“自动”会在 16 位或 8 位精度更快且通过质量检查时采用该精度，声码器同样适用。</translation>
    </message>
    <message>
        <source>Bundled (English)</source>
        <translation>内置（英语）</translation>
    </message>
    <message>
        <source>Check takes</source>
        <translation>检查音频</translation>
    </message>
    <message>
        <source>Checks of takes</source>
        <translation>音频质检</translation>
    </message>
    <message>
        <source>CosyVoice-300M only: play a sentence before all of it is ready. Joins within it can be audible.</source>
        <translation>仅适用于 CosyVoice-300M：整句生成完成之前就开始播放，句中的衔接处可能听得出来。</translation>
    </message>
    <message>
        <source>Do not use</source>
        <translation>不使用</translation>
    </message>
    <message>
        <source>Each take is checked for missing, repeated or wrong words, noise and another voice. Lines with problems can be spoken again automatically; the best take is chosen, and the others are kept.</source>
        <translation>检查每条音频是否漏读、重复、读错，是否有噪声或音色不符。有问题的行可自动重新生成，并选用最佳的一条，其余保留。</translation>
    </message>
    <message>
        <source>English</source>
        <translation>English</translation>
    </message>
    <message>
        <source>Exports wait for checks</source>
        <translation>导出前等待检查完成</translation>
    </message>
    <message>
        <source>Fields: {index}, {voice}, {text}, {style}, {project}, {character}, {id} and the columns of an imported table. A slash creates a folder.</source>
        <translation>可用字段：{index}、{voice}、{text}、{style}、{project}、{character}、{id}，以及导入表格的各列。斜杠表示文件夹。</translation>
    </message>
    <message>
        <source>Flow precision</source>
        <translation>流匹配精度</translation>
    </message>
    <message>
        <source>Retries</source>
        <translation>重试次数</translation>
    </message>
    <message>
        <source>Generated noise</source>
        <translation>自动生成的噪声</translation>
    </message>
    <message>
        <source>A PEM file with your private key and its certificates. If it is empty, a self-made key signs.</source>
        <translation>包含您的私钥及其证书的 PEM 文件。留空则使用程序生成的密钥签名。</translation>
    </message>
    <message>
        <source>A sentence in the language of the script says that the voice is synthetic.</source>
        <translation>用脚本的语言说明语音为合成语音。</translation>
    </message>
    <message>
        <source>A signed manifest says that the speech is synthetic. Without it, nobody can verify where a file comes from.</source>
        <translation>签名清单声明语音为合成语音。没有它，任何人都无法核实文件的来源。</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>Begin with a disclaimer</source>
        <translation>开头加语音声明</translation>
    </message>
    <message>
        <source>Certificate</source>
        <translation>证书</translation>
    </message>
    <message>
        <source>Dates in English</source>
        <translation>英语日期</translation>
    </message>
    <message>
        <source>Day first: the 3rd of April</source>
        <translation>先日后月：the 3rd of April</translation>
    </message>
    <message>
        <source>Emoji</source>
        <translation>表情符号</translation>
    </message>
    <message>
        <source>How 3/4/2024 is read. A number above 12 is a day in either order. New takes only.</source>
        <translation>3/4/2024 的读法。大于 12 的数总是日。仅对新音频有效。</translation>
    </message>
    <message>
        <source>How easily a take is marked. Strict finds smaller problems, but marks more good takes.</source>
        <translation>标记的严格程度。“严格”能发现更小的问题，但也会标记更多正常的音频。</translation>
    </message>
    <message>
        <source>Hugging Face</source>
        <translation>Hugging Face</translation>
    </message>
    <message>
        <source>JSON with word times</source>
        <translation>JSON，含词时间</translation>
    </message>
    <message>
        <source>LRC with word times</source>
        <translation>LRC，含词时间</translation>
    </message>
    <message>
        <source>LUFS</source>
        <translation>LUFS</translation>
    </message>
    <message>
        <source>Lenient</source>
        <translation>宽松</translation>
    </message>
    <message>
        <source>Lines that an export speaks are checked, and spoken again if needed, before the files are written.</source>
        <translation>导出时生成的行先检查，必要时重新生成，然后再写入文件。</translation>
    </message>
    <message>
        <source>List built-in voices of models</source>
        <translation>列出模型的内置音色</translation>
    </message>
    <message>
        <source>MP3</source>
        <translation>MP3</translation>
    </message>
    <message>
        <source>Mark problems only</source>
        <translation>只标记问题</translation>
    </message>
    <message>
        <source>Mark, and try again</source>
        <translation>标记并自动重新生成</translation>
    </message>
    <message>
        <source>Mirror URL, such as https://hf-mirror.com. Leave empty for the default.</source>
        <translation>镜像地址，例如 https://hf-mirror.com，留空则使用默认地址。</translation>
    </message>
    <message>
        <source>Mirror URL. Leave empty for the default.</source>
        <translation>镜像地址，留空则使用默认地址。</translation>
    </message>
    <message>
        <source>ModelScope</source>
        <translation>ModelScope</translation>
    </message>
    <message>
        <source>Month first: March 4th</source>
        <translation>先月后日：March 4th</translation>
    </message>
    <message>
        <source>Names are spoken in the language of the text. New takes only.</source>
        <translation>名称以文本的语言读出。仅对新音频有效。</translation>
    </message>
    <message>
        <source>Normal</source>
        <translation>标准</translation>
    </message>
    <message>
        <source>OGG Opus</source>
        <translation>OGG Opus</translation>
    </message>
    <message>
        <source>OGG Vorbis</source>
        <translation>OGG Vorbis</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Room tone</source>
        <translation>房间底噪</translation>
    </message>
    <message>
        <source>SRT and WebVTT</source>
        <translation>SRT 和 WebVTT</translation>
    </message>
    <message>
        <source>SRT, word by word</source>
        <translation>SRT，逐词显示</translation>
    </message>
    <message>
        <source>SenseVoiceSmall</source>
        <translation>SenseVoiceSmall</translation>
    </message>
    <message>
        <source>Sign audio files</source>
        <translation>为音频文件签名</translation>
    </message>
    <message>
        <source>Silent</source>
        <translation>不读</translation>
    </message>
    <message>
        <source>Speak names: red heart</source>
        <translation>读出名称：红心</translation>
    </message>
    <message>
        <source>Speech recognition</source>
        <translation>语音识别</translation>
    </message>
    <message>
        <source>Start sentences early (approximate)</source>
        <translation>提前播放句子（近似）</translation>
    </message>
    <message>
        <source>Strict</source>
        <translation>严格</translation>
    </message>
    <message>
        <source>Strictness</source>
        <translation>严格程度</translation>
    </message>
    <message>
        <source>The maximum number of retries for a line with problems, each with a different seed.</source>
        <translation>每个有问题的行最多重新生成的次数，每次使用不同的种子。</translation>
    </message>
    <message>
        <source>Timing of each line in the joined audio. The times of words are known for takes that were checked.</source>
        <translation>合并音频中每行的时间。已检查的音频含有词时间。</translation>
    </message>
    <message>
        <source>Voices that a model contains, such as those of CosyVoice-300M-SFT. Lines keep their voice either way.</source>
        <translation>模型自身包含的音色，例如 CosyVoice-300M-SFT 的音色。无论是否列出，台词的音色都不变。</translation>
    </message>
    <message>
        <source>WebVTT with word times</source>
        <translation>WebVTT，含词时间</translation>
    </message>
    <message>
        <source>简体中文</source>
        <translation>简体中文</translation>
    </message>
    <message>
        <source>SRT</source>
        <translation>SRT</translation>
    </message>
    <message>
        <source>WebVTT</source>
        <translation>WebVTT</translation>
    </message>
    <message>
        <source>dBTP</source>
        <translation>dBTP</translation>
    </message>
    <message>
        <source>MP3, 192 kbit/s</source>
        <translation>MP3，192 kbit/s</translation>
    </message>
    <message>
        <source>All offer the same files. If one fails, the others are tried. Automatic begins with ModelScope in China.</source>
        <translation>各下载源文件相同，某个失败时会自动尝试其他源。“自动”在中国优先使用 ModelScope。</translation>
    </message>
    <message>
        <source>Compares the spoken words with the text. Automatic uses the bundled recogniser for English, and an installed one for other languages. The Models page installs SenseVoiceSmall.</source>
        <translation>将读出的词与文本对照。“自动”对英语使用内置识别模型，对其他语言使用已安装的模型。可在“模型”页面安装 SenseVoiceSmall。</translation>
    </message>
    <message>
        <source>Fastest</source>
        <translation>最快</translation>
    </message>
    <message>
        <source>Highest speed to which a take is stretched to fit its slot.</source>
        <translation>为对齐字幕时长而变速时的最高语速。</translation>
    </message>
    <message>
        <source>Lowest speed to which a take is stretched to fit its slot.</source>
        <translation>为对齐字幕时长而变速时的最低语速。</translation>
    </message>
    <message>
        <source>Slowest</source>
        <translation>最慢</translation>
    </message>
    <message>
        <source>Faster engines are tested after five idle minutes, and used only if their output matches the reference. See the Engines page for results.</source>
        <translation>空闲五分钟后测试更快的引擎，仅在输出与基准一致时采用。结果见“引擎”页。</translation>
    </message>
    <message>
        <source>Audiobook (M4B)</source>
        <translation>有声书（M4B）</translation>
    </message>
    <message>
        <source>One per chapter</source>
        <translation>每章一个文件</translation>
    </message>
    <message>
        <source>At their original times</source>
        <translation>按原始时间</translation>
    </message>
    <message>
        <source>At their times, one file per character</source>
        <translation>按原始时间，每个角色一个文件</translation>
    </message>
    <message>
        <source>For scripts with times in a video. Each line begins exactly at its original time.</source>
        <translation>用于带有视频时间的脚本。每一行都精确地从原始时间开始。</translation>
    </message>
    <message>
        <source>Joined lines</source>
        <translation>合并方式</translation>
    </message>
    <message>
        <source>With pauses between them</source>
        <translation>行间停顿</translation>
    </message>
    <message>
        <source>Automatic: the GPU with the most memory, otherwise the CPU.</source>
        <translation>自动：优先使用显存最大的显卡，没有则使用 CPU。</translation>
    </message>
    <message>
        <source>ACX</source>
        <translation>ACX</translation>
    </message>
    <message>
        <source>EBU R128</source>
        <translation>EBU R128</translation>
    </message>
    <message>
        <source>Levels, room tone and pauses of chapters, audiobooks and joined files. ACX needs MP3 at 192 kbit/s.</source>
        <translation>用于章节文件、有声书和合并文件的电平、房间底噪和停顿。ACX 要求 192 kbit/s 的 MP3。</translation>
    </message>
    <message>
        <source>Mastering</source>
        <translation>母带处理</translation>
    </message>
    <message>
        <source>Name speakers in signed files</source>
        <translation>在签名文件中注明授权人</translation>
    </message>
    <message>
        <source>Require recorded consent</source>
        <translation>要求有授权记录</translation>
    </message>
    <message>
        <source>The manifest contains who consented and to what. Otherwise it contains a hash of this record.</source>
        <translation>签名清单会写明授权人和授权用途；关闭时只写入授权记录的哈希值。</translation>
    </message>
    <message>
        <source>Voices are used only if the consent of their speaker is recorded in the details of the voice.</source>
        <translation>只能使用音色详情中有说话人授权记录的音色。</translation>
    </message>
    <message>
        <source>Read-along page (HTML)</source>
        <translation>跟读网页（HTML）</translation>
    </message>
    <message>
        <source>An imperceptible mark in the sound. Without it, nothing shows that the speech is synthetic once the manifest is removed.</source>
        <translation>在声音中加入听不出的水印。没有水印时，一旦清单被移除，就无法看出语音为合成。</translation>
    </message>
    <message>
        <source>Mark audio files</source>
        <translation>为音频文件加水印</translation>
    </message>
</context>
<context>
    <name>ShortcutsDialog</name>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>键盘快捷键</translation>
    </message>
</context>
<context>
    <name>ShortcutsPage</name>
    <message>
        <source>Search actions and keys</source>
        <translation>搜索操作和按键</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>键盘快捷键</translation>
    </message>
    <message>
        <source>Action</source>
        <translation>操作</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>按键</translation>
    </message>
    <message>
        <source>New keys</source>
        <translation>新按键</translation>
    </message>
    <message>
        <source>Assign</source>
        <translation>指定</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>重置</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>全部重置</translation>
    </message>
    <message>
        <source>Already used by: {actions}. Assigning it removes it there.</source>
        <translation>已用于：{actions}。指定后会从原操作中移除。</translation>
    </message>
</context>
<context>
    <name>ShorterVoiceOffer</name>
    <message>
        <source>Preparing {voice} took {seconds:.0f} s. A voice of its best {short:g} seconds would take {less:.0f} s.</source>
        <translation>准备 {voice} 用了 {seconds:.0f} 秒。若只用其中最好的 {short:g} 秒，约需 {less:.0f} 秒。</translation>
    </message>
    <message>
        <source>Add short voice</source>
        <translation>添加短音色</translation>
    </message>
    <message>
        <source>{name} was added.</source>
        <translation>已添加 {name}。</translation>
    </message>
    <message>
        <source>Its similarity to {voice} is {similarity:.2f}; 1 means identical.</source>
        <translation>它与 {voice} 的相似度为 {similarity:.2f}（1 表示完全相同）。</translation>
    </message>
    <message>
        <source>Check its transcript, which was recognised.</source>
        <translation>参考文本由识别得出，请核对。</translation>
    </message>
</context>
<context>
    <name>SilenceDialog</name>
    <message>
        <source>Play result</source>
        <translation>试听结果</translation>
    </message>
    <message>
        <source>Cut silence</source>
        <translation>缩短停顿</translation>
    </message>
    <message>
        <source>Cut silence of {take}</source>
        <translation>缩短停顿：{take}</translation>
    </message>
    <message>
        <source>Longest pause</source>
        <translation>最长停顿</translation>
    </message>
    <message>
        <source>Silence at the ends</source>
        <translation>首尾静音</translation>
    </message>
    <message>
        <source>s</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>Takes read</source>
        <translation>已读取的音频</translation>
    </message>
    <message>
        <source>Longer pauses are shortened at their quietest points. The existing takes are kept.</source>
        <translation>超过上限的停顿会在最安静处剪短，现有音频会保留。</translation>
    </message>
    <message>
        <source>The selected lines have no takes.</source>
        <translation>所选各行没有音频。</translation>
    </message>
    <message>
        <source>Reading the takes…</source>
        <translation>正在读取各条音频…</translation>
    </message>
    <message>
        <source>No pause is longer than this.</source>
        <translation>没有超过上限的停顿。</translation>
    </message>
    <message numerus="yes">
        <source>%n take(s) become shorter.</source>
        <translation>
            <numerusform>将缩短 %n 条音频。</numerusform>
        </translation>
    </message>
    <message>
        <source>Saved: {saved:.2f} s of {total:.2f} s.</source>
        <translation>共 {total:.2f} 秒，可节省 {saved:.2f} 秒。</translation>
    </message>
    <message numerus="yes">
        <source>%n locked line(s) keep their takes.</source>
        <translation>
            <numerusform>%n 行已锁定，音频保持不变。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n take(s) shortened, by {saved:.2f} s.</source>
        <translation>
            <numerusform>已缩短 %n 条音频，共减少 {saved:.2f} 秒。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SlotFields</name>
    <message>
        <source>Start of slot</source>
        <translation>时段开始</translation>
    </message>
    <message>
        <source>End of slot</source>
        <translation>时段结束</translation>
    </message>
    <message>
        <source>Slot start</source>
        <translation>开始时间</translation>
    </message>
    <message>
        <source>Slot end</source>
        <translation>结束时间</translation>
    </message>
    <message>
        <source>s</source>
        <translation>秒</translation>
    </message>
</context>
<context>
    <name>SourceWatcher</name>
    <message>
        <source>Update from {name}…</source>
        <translation>从 {name} 更新…</translation>
    </message>
    <message>
        <source>{name} has changed since it was imported.</source>
        <translation>{name} 在导入之后有改动。</translation>
    </message>
    <message>
        <source>Show changes…</source>
        <translation>查看变化…</translation>
    </message>
</context>
<context>
    <name>SpeakersController</name>
    <message>
        <source>This text has dialogue. It can be divided into the lines of its characters.</source>
        <translation>这篇文本含有对话，可以拆分为各角色的行。</translation>
    </message>
    <message>
        <source>Assign speakers…</source>
        <translation>分配说话人…</translation>
    </message>
    <message>
        <source>Finding speakers</source>
        <translation>正在识别说话人</translation>
    </message>
    <message>
        <source>This script has no quotations.</source>
        <translation>此脚本没有引语。</translation>
    </message>
    <message>
        <source>Assign speakers</source>
        <translation>分配说话人</translation>
    </message>
    <message numerus="yes">
        <source>%n quotation(s) assigned</source>
        <translation>
            <numerusform>已分配 %n 句引语</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SpeakersDialog</name>
    <message>
        <source>Assign speakers</source>
        <translation>分配说话人</translation>
    </message>
    <message>
        <source>Text around the quotation</source>
        <translation>引语的上下文</translation>
    </message>
    <message>
        <source>Characters</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>Other name</source>
        <translation>其他名字</translation>
    </message>
    <message>
        <source>Name of another speaker</source>
        <translation>其他说话人的名字</translation>
    </message>
    <message>
        <source>Whole paragraphs</source>
        <translation>整段朗读</translation>
    </message>
    <message>
        <source>The character also reads the narration of the paragraph, unless someone else speaks in it</source>
        <translation>段落中只有一人说话时，叙述部分也由该角色朗读</translation>
    </message>
    <message>
        <source>Next doubtful (F8)</source>
        <translation>下一个存疑（F8）</translation>
    </message>
    <message>
        <source>Divide script</source>
        <translation>拆分脚本</translation>
    </message>
    <message numerus="yes">
        <source>Discard %n assigned speaker(s)?</source>
        <translation>
            <numerusform>放弃已指定的 %n 个说话人？</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n quotation(s)</source>
        <translation>
            <numerusform>%n 句引语</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n character(s)</source>
        <translation>
            <numerusform>%n 个角色</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n doubtful</source>
        <translation>
            <numerusform>%n 句存疑</numerusform>
        </translation>
    </message>
    <message>
        <source>Narrator</source>
        <translation>旁白</translation>
    </message>
    <message>
        <source>Quotations</source>
        <translation>引语</translation>
    </message>
    <message>
        <source>A digit assigns a character, Enter confirms the speaker. Others follow from what you assign.</source>
        <translation>数字键指定角色，Enter 确认当前说话人，其他引语会随之调整。</translation>
    </message>
</context>
<context>
    <name>SpokenConsentField</name>
    <message>
        <source>Record…</source>
        <translation>录音…</translation>
    </message>
    <message>
        <source>Choose file…</source>
        <translation>选择文件…</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>“{sentence}”</source>
        <translation>“{sentence}”</translation>
    </message>
    <message>
        <source>Enter who gives consent to see the sentence to say.</source>
        <translation>填写授权人后，这里会显示要说的句子。</translation>
    </message>
    <message>
        <source>Spoken consent</source>
        <translation>口头授权</translation>
    </message>
    <message>
        <source>Comparing with the voice…</source>
        <translation>正在与音色比较…</translation>
    </message>
    <message>
        <source>The voice has no recording to compare with.</source>
        <translation>这个音色没有可比较的录音。</translation>
    </message>
    <message>
        <source>Similarity {similarity:.2f}: probably another speaker, or another microphone.</source>
        <translation>相似度 {similarity:.2f}：可能是另一个人，或用了另一个麦克风。</translation>
    </message>
    <message>
        <source>Similarity to the voice: {similarity:.2f}.</source>
        <translation>与音色的相似度：{similarity:.2f}。</translation>
    </message>
    <message>
        <source>The sentence was heard.</source>
        <translation>听到了这句话。</translation>
    </message>
    <message>
        <source>Other words were heard.</source>
        <translation>听到的是别的内容。</translation>
    </message>
    <message>
        <source>No recogniser could compare the words.</source>
        <translation>没有识别器可以核对内容。</translation>
    </message>
</context>
<context>
    <name>StageCard</name>
    <message numerus="yes">
        <source>Why not faster? (%n other engine(s))</source>
        <translation>
            <numerusform>为何不用其他引擎？（%n 个）</numerusform>
        </translation>
    </message>
    <message>
        <source>{stage}: why not faster</source>
        <translation>{stage}：为何不用其他引擎</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>{engine} from the next line on</source>
        <translation>从下一行起使用 {engine}</translation>
    </message>
    <message>
        <source>Tries the failed engines again</source>
        <translation>重新尝试失败的引擎</translation>
    </message>
</context>
<context>
    <name>StageChart</name>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} 秒</translation>
    </message>
    <message>
        <source>now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>Time per stage</source>
        <translation>各阶段耗时</translation>
    </message>
    <message>
        <source>Seconds per second of audio</source>
        <translation>每秒音频的耗时（秒）</translation>
    </message>
    <message>
        <source>float32</source>
        <translation>float32</translation>
    </message>
    <message>
        <source>real time</source>
        <translation>实时</translation>
    </message>
    <message>
        <source>not measured</source>
        <translation>尚未测速</translation>
    </message>
</context>
<context>
    <name>StartHint</name>
    <message>
        <source>Write a line and press Ctrl+Enter to hear it.

Paste a text to split it into lines.
Drop a recording here to create a voice.</source>
        <translation>输入一行文字，按 Ctrl+Enter 试听。

粘贴文本会自动分行。
把录音拖到这里即可创建音色。</translation>
    </message>
</context>
<context>
    <name>StatusBar</name>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Loading {model}…</source>
        <translation>正在加载 {model}…</translation>
    </message>
    <message>
        <source>{model} could not be loaded</source>
        <translation>无法加载 {model}</translation>
    </message>
    <message>
        <source>Task progress</source>
        <translation>任务进度</translation>
    </message>
    <message>
        <source>Cancel task</source>
        <translation>取消任务</translation>
    </message>
    <message>
        <source>Serving voices</source>
        <translation>语音服务运行中</translation>
    </message>
    <message>
        <source>generates noise, not speech</source>
        <translation>只输出噪声</translation>
    </message>
    <message>
        <source>Connecting to {server}…</source>
        <translation>正在连接 {server}…</translation>
    </message>
    <message>
        <source>{server} cannot be used</source>
        <translation>{server} 无法使用</translation>
    </message>
    <message>
        <source>{server}, not connected</source>
        <translation>{server}，未连接</translation>
    </message>
    <message>
        <source>{model}, not loaded</source>
        <translation>{model}（未加载）</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Queue {count}</source>
        <translation>队列 {count}</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>Model downloads</source>
        <translation>模型下载</translation>
    </message>
    <message>
        <source>Optimising for this computer</source>
        <translation>正在针对本机优化</translation>
    </message>
    <message>
        <source>{model}: choosing the fastest precision</source>
        <translation>{model}：正在选择最快的精度</translation>
    </message>
</context>
<context>
    <name>StyleBox</name>
    <message>
        <source>Default</source>
        <translation>默认</translation>
    </message>
    <message>
        <source>Custom instruction…</source>
        <translation>自定义指令…</translation>
    </message>
    <message>
        <source>{style} (needs {model})</source>
        <translation>{style}（需要 {model}）</translation>
    </message>
    <message>
        <source>{style} (not supported by this model)</source>
        <translation>{style}（此模型不支持）</translation>
    </message>
</context>
<context>
    <name>StyleDelegate</name>
    <message>
        <source>Line style</source>
        <translation>此行的风格</translation>
    </message>
</context>
<context>
    <name>StyleList</name>
    <message>
        <source>Emotion</source>
        <translation>情感</translation>
    </message>
    <message>
        <source>Tone</source>
        <translation>语气</translation>
    </message>
    <message>
        <source>Pace</source>
        <translation>语速</translation>
    </message>
    <message>
        <source>Volume</source>
        <translation>音量</translation>
    </message>
    <message>
        <source>Pitch</source>
        <translation>音高</translation>
    </message>
    <message>
        <source>Manner</source>
        <translation>发声方式</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>Character</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>Dialect</source>
        <translation>方言</translation>
    </message>
    <message>
        <source>Accent</source>
        <translation>口音</translation>
    </message>
    <message>
        <source>For English texts</source>
        <translation>用于英文文本</translation>
    </message>
    <message>
        <source>Other</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>Pause, in seconds</source>
        <translation>停顿（秒）</translation>
    </message>
    <message>
        <source>{category}: {style}</source>
        <translation>{category}：{style}</translation>
    </message>
</context>
<context>
    <name>TagCompleter</name>
    <message>
        <source>Tags</source>
        <translation>标签</translation>
    </message>
    <message>
        <source>(experimental)</source>
        <translation>（实验性）</translation>
    </message>
</context>
<context>
    <name>TakeDialogs</name>
    <message>
        <source>Join two takes…</source>
        <translation>拼接两条音频…</translation>
    </message>
    <message>
        <source>Select two takes to join the start of one to the end of the other</source>
        <translation>选中两条音频，将其中一条的开头与另一条的结尾拼接</translation>
    </message>
    <message>
        <source>Restore removed take</source>
        <translation>恢复已删除的音频</translation>
    </message>
    <message>
        <source>Take {number}, {seconds:.1f} s</source>
        <translation>第 {number} 条，{seconds:.1f} 秒</translation>
    </message>
    <message>
        <source>Play or stop</source>
        <translation>播放或停止</translation>
    </message>
    <message>
        <source>Use this take</source>
        <translation>选用这条音频</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>Edit take…</source>
        <translation>编辑音频…</translation>
    </message>
    <message>
        <source>Cut silence…</source>
        <translation>缩短停顿…</translation>
    </message>
    <message>
        <source>Export this take…</source>
        <translation>导出这条音频…</translation>
    </message>
    <message>
        <source>Copy seed</source>
        <translation>复制种子</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>删除</translation>
    </message>
</context>
<context>
    <name>TakeEditor</name>
    <message>
        <source>Reading the take…</source>
        <translation>正在读取音频…</translation>
    </message>
    <message>
        <source>Play selection</source>
        <translation>播放选区</translation>
    </message>
    <message>
        <source>Trim to selection</source>
        <translation>裁剪到选区</translation>
    </message>
    <message>
        <source>Remove trim</source>
        <translation>取消裁剪</translation>
    </message>
    <message>
        <source>Cut silence…</source>
        <translation>缩短停顿…</translation>
    </message>
    <message>
        <source>Say again</source>
        <translation>重新生成</translation>
    </message>
    <message>
        <source>Text of the take</source>
        <translation>音频的文本</translation>
    </message>
    <message>
        <source>Recording with selection</source>
        <translation>带选区的录音</translation>
    </message>
    <message>
        <source>Omit what is before and after the selection (can be undone)</source>
        <translation>去掉选区前后的部分（可撤销）</translation>
    </message>
    <message>
        <source>Use the whole recording again (can be undone)</source>
        <translation>重新使用完整录音（可撤销）</translation>
    </message>
    <message>
        <source>Shorten long pauses. The result is a new take; this one stays.</source>
        <translation>缩短过长的停顿。结果是新音频，这条音频会保留。</translation>
    </message>
    <message>
        <source>Edit {take}</source>
        <translation>编辑{take}</translation>
    </message>
    <message>
        <source>Replace selected words</source>
        <translation>替换选中的词</translation>
    </message>
    <message>
        <source>Replace changed words</source>
        <translation>替换改动的词</translation>
    </message>
    <message>
        <source>The line is locked, so its takes cannot be changed.</source>
        <translation>此行已锁定，不能更改其音频。</translation>
    </message>
    <message>
        <source>Trim take</source>
        <translation>裁剪音频</translation>
    </message>
    <message>
        <source>The take is {seconds:.2f} s long now.</source>
        <translation>这条音频现在长 {seconds:.2f} 秒。</translation>
    </message>
    <message>
        <source>{take} has shorter pauses. The former take is kept.</source>
        <translation>{take}的停顿已缩短，原音频保留。</translation>
    </message>
    <message>
        <source>Speaking…</source>
        <translation>正在生成…</translation>
    </message>
    <message>
        <source>Say changed words</source>
        <translation>重新生成改动的词</translation>
    </message>
    <message>
        <source>Speak the selected words again, as part of the same reading. All else stays as it is, up to 0.2 s from the words. The result is a new take; this one stays.</source>
        <translation>以相同读法重新生成选中的词，距这些词 0.2 秒以外保持不变。结果是新音频，这条音频会保留。</translation>
    </message>
    <message>
        <source>Speak only the words that differ from the current text of the line and the pronunciation dictionary. The result is a new take; this one stays.</source>
        <translation>只重新生成与当前文本和读音词典不同的词。结果是新音频，这条音频会保留。</translation>
    </message>
    <message>
        <source>{take} has the new words. The former take is kept.</source>
        <translation>{take} 含有新生成的词。原来的音频已保留。</translation>
    </message>
</context>
<context>
    <name>TakeFiles</name>
    <message>
        <source>Export take</source>
        <translation>导出这条音频</translation>
    </message>
    <message>
        <source>Audio files ({patterns})</source>
        <translation>音频文件 ({patterns})</translation>
    </message>
    <message>
        <source>Saved {path}</source>
        <translation>已保存 {path}</translation>
    </message>
</context>
<context>
    <name>TakeJoiner</name>
    <message>
        <source>Reading the take…</source>
        <translation>正在读取…</translation>
    </message>
    <message>
        <source>Play join</source>
        <translation>播放拼接处</translation>
    </message>
    <message>
        <source>Swap takes</source>
        <translation>交换前后</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>拼接</translation>
    </message>
    <message>
        <source>Join takes</source>
        <translation>拼接音频</translation>
    </message>
    <message>
        <source>Text of the line</source>
        <translation>该行文本</translation>
    </message>
    <message>
        <source>Click the word where the second take begins, or drag the edges.</source>
        <translation>点击第二条音频开始处的词，或拖动选区边缘。</translation>
    </message>
    <message>
        <source>s</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>Crossfade</source>
        <translation>交叉淡化</translation>
    </message>
    <message>
        <source>{take}, used part</source>
        <translation>{take}，采用的部分</translation>
    </message>
    <message>
        <source>The line is locked, so its takes cannot be changed.</source>
        <translation>此行已锁定，不能更改其音频。</translation>
    </message>
</context>
<context>
    <name>Takes</name>
    <message>
        <source>Older text</source>
        <translation>旧文本</translation>
    </message>
    <message>
        <source>Other settings</source>
        <translation>设置不同</translation>
    </message>
    <message>
        <source>Too long</source>
        <translation>过长</translation>
    </message>
    <message>
        <source>Too short</source>
        <translation>过短</translation>
    </message>
    <message>
        <source>Check: {verdict}. {reason}</source>
        <translation>检查：{verdict}。{reason}</translation>
    </message>
    <message>
        <source>Wrong words: {share:.0%}</source>
        <translation>错词：{share:.0%}</translation>
    </message>
    <message>
        <source>Similarity of the voice: {similarity:.2f}</source>
        <translation>音色相似度：{similarity:.2f}</translation>
    </message>
    <message>
        <source>Spoken again automatically, because a take had problems.</source>
        <translation>因有音频存在问题而自动重新生成。</translation>
    </message>
    <message>
        <source>Take {number}</source>
        <translation>第 {number} 条</translation>
    </message>
    <message>
        <source>yesterday</source>
        <translation>昨天</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Recording</source>
        <translation>录音</translation>
    </message>
    <message>
        <source>Cannot be stretched</source>
        <translation>无法变速</translation>
    </message>
    <message>
        <source>seed {seed}</source>
        <translation>种子 {seed}</translation>
    </message>
    <message>
        <source>chosen</source>
        <translation>已选用</translation>
    </message>
    <message>
        <source>kept</source>
        <translation>已保留</translation>
    </message>
    <message>
        <source>Length: {seconds:.1f} s</source>
        <translation>时长：{seconds:.1f} 秒</translation>
    </message>
    <message>
        <source>Seed: {seed}</source>
        <translation>种子：{seed}</translation>
    </message>
    <message>
        <source>Voice: {voice}</source>
        <translation>音色：{voice}</translation>
    </message>
    <message>
        <source>Model: {model}</source>
        <translation>模型：{model}</translation>
    </message>
    <message>
        <source>Spoken: {when}</source>
        <translation>生成时间：{when}</translation>
    </message>
    <message>
        <source>Text: {text}</source>
        <translation>文本：{text}</translation>
    </message>
    <message>
        <source>Spoken at {speed:.2f}×, which cannot be stretched to the speed of the line. Speak again.</source>
        <translation>生成时的语速为 {speed:.2f}×，无法变速到此行的语速。请重新生成。</translation>
    </message>
    <message>
        <source>Quality: {quality}, {distance:.2f} dB from exact. Make it final to speak it exactly.</source>
        <translation>质量：{quality}，与精确结果相差 {distance:.2f} dB。转为成品即可精确生成。</translation>
    </message>
    <message>
        <source>Latency: {seconds:.2f} s</source>
        <translation>首音延迟：{seconds:.2f} 秒</translation>
    </message>
    <message>
        <source>Real-time factor: {factor:.2f}</source>
        <translation>实时率：{factor:.2f}</translation>
    </message>
    <message>
        <source>Another computer: network {latency:.3f} s and queue {queue:.3f} s of the latency, real-time factor there {factor:.2f}, network delays of later audio up to {delay:.3f} s</source>
        <translation>另一台电脑：首音延迟中网络 {latency:.3f} 秒、排队 {queue:.3f} 秒，对方实时率 {factor:.2f}，后续音频的网络延迟最大 {delay:.3f} 秒</translation>
    </message>
    <message>
        <source>Dropouts: {count}</source>
        <translation>卡顿：{count} 次</translation>
    </message>
    <message>
        <source>Without style</source>
        <translation>未使用风格</translation>
    </message>
    <message>
        <source>{verdict} · best</source>
        <translation>{verdict} · 最佳</translation>
    </message>
    <message>
        <source>{verdict} · 2nd</source>
        <translation>{verdict} · 第 2 名</translation>
    </message>
    <message>
        <source>{verdict} · 3rd</source>
        <translation>{verdict} · 第 3 名</translation>
    </message>
    <message>
        <source>{verdict} · {rank}th</source>
        <translation>{verdict} · 第 {rank} 名</translation>
    </message>
    <message>
        <source>Spoken without the style of the line, which {model} does not have.</source>
        <translation>{model} 没有该行的风格，因此以默认风格生成。</translation>
    </message>
    <message>
        <source>{seconds:.1f} s</source>
        <translation>{seconds:.1f} 秒</translation>
    </message>
</context>
<context>
    <name>TakesController</name>
    <message>
        <source>Choose take</source>
        <translation>选用音频</translation>
    </message>
    <message>
        <source>Release take</source>
        <translation>取消保留</translation>
    </message>
    <message>
        <source>Protect take</source>
        <translation>保护这条音频</translation>
    </message>
    <message>
        <source>Take {number} removed. Restore it from the Takes menu.</source>
        <translation>已删除第 {number} 条音频，可从“音频”菜单恢复。</translation>
    </message>
    <message>
        <source>Remove take</source>
        <translation>删除音频</translation>
    </message>
    <message>
        <source>Restore take</source>
        <translation>恢复音频</translation>
    </message>
    <message>
        <source>This line is locked. Press Ctrl+L to unlock it.</source>
        <translation>此行已锁定，按 Ctrl+L 解锁。</translation>
    </message>
</context>
<context>
    <name>TakesList</name>
    <message>
        <source>Takes of the line</source>
        <translation>此行的音频</translation>
    </message>
</context>
<context>
    <name>TaskReporter</name>
    <message>
        <source>Loading the model</source>
        <translation>正在加载模型</translation>
    </message>
    <message>
        <source>Line {number}: loading the model</source>
        <translation>第 {number} 行：正在加载模型</translation>
    </message>
    <message>
        <source>Line {number}: preparing the voice</source>
        <translation>第 {number} 行：正在准备音色</translation>
    </message>
    <message>
        <source>Line {number}: measuring the quality</source>
        <translation>第 {number} 行：正在测量质量</translation>
    </message>
    <message>
        <source>Line {number}: connecting again</source>
        <translation>第 {number} 行：正在重新连接</translation>
    </message>
    <message>
        <source>Speaking line {number}</source>
        <translation>正在生成第 {number} 行</translation>
    </message>
    <message numerus="yes">
        <source>%n queued</source>
        <translation>
            <numerusform>%n 项排队中</numerusform>
        </translation>
    </message>
    <message>
        <source>playback starts in {seconds:.0f} s</source>
        <translation>{seconds:.0f} 秒后开始播放</translation>
    </message>
    <message numerus="yes">
        <source>%n more in parallel</source>
        <translation>
            <numerusform>另有 %n 行同时生成</numerusform>
        </translation>
    </message>
    <message>
        <source>(Esc twice clears the queue)</source>
        <translation>（按两次 Esc 清空队列）</translation>
    </message>
</context>
<context>
    <name>TextField</name>
    <message>
        <source>Line text</source>
        <translation>此行的文本</translation>
    </message>
</context>
<context>
    <name>TimelinePanel</name>
    <message>
        <source>Play with guide</source>
        <translation>与参考音轨一起播放</translation>
    </message>
    <message>
        <source>Choose guide track…</source>
        <translation>选择参考音轨…</translation>
    </message>
    <message>
        <source>Remove guide track</source>
        <translation>移除参考音轨</translation>
    </message>
    <message>
        <source>Guide volume</source>
        <translation>参考音轨音量</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>时间轴</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>缩小</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>放大</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>显示全部</translation>
    </message>
    <message>
        <source>No guide track</source>
        <translation>无参考音轨</translation>
    </message>
    <message>
        <source>Reading {file}…</source>
        <translation>正在读取 {file}…</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Choose guide track</source>
        <translation>选择参考音轨</translation>
    </message>
    <message>
        <source>Video and audio ({patterns})</source>
        <translation>视频和音频 ({patterns})</translation>
    </message>
</context>
<context>
    <name>TimelineView</name>
    <message>
        <source>Timeline</source>
        <translation>时间轴</translation>
    </message>
    <message>
        <source>Drag a slot or its edges. Left and Right shift it by 10 ms, with Shift by 100 ms.</source>
        <translation>拖动时段或其边缘。左右方向键移动 10 毫秒，按住 Shift 移动 100 毫秒。</translation>
    </message>
    <message>
        <source>Line {number}: slot {start:.2f} to {end:.2f} s</source>
        <translation>第 {number} 行：时段 {start:.2f} 至 {end:.2f} 秒</translation>
    </message>
    <message>
        <source>take {seconds:.2f} s</source>
        <translation>音频 {seconds:.2f} 秒</translation>
    </message>
    <message>
        <source>{seconds:.2f} s too long</source>
        <translation>超出 {seconds:.2f} 秒</translation>
    </message>
    <message>
        <source>Overlaps line {numbers} by {seconds:.2f} s</source>
        <translation>与第 {numbers} 行重叠 {seconds:.2f} 秒</translation>
    </message>
    <message>
        <source>Overlaps lines {numbers}, by up to {seconds:.2f} s</source>
        <translation>与第 {numbers} 行重叠，最长 {seconds:.2f} 秒</translation>
    </message>
</context>
<context>
    <name>TranscriptComparison</name>
    <message>
        <source>Use what was heard</source>
        <translation>使用识别结果</translation>
    </message>
    <message>
        <source>Transcript</source>
        <translation>参考文本</translation>
    </message>
    <message>
        <source>Comparing with the recording…</source>
        <translation>正在与录音比对…</translation>
    </message>
    <message>
        <source>The recogniser does not understand this voice, so the transcript is not compared.</source>
        <translation>识别模型听不懂此音色，因此没有比对文本。</translation>
    </message>
    <message>
        <source>The transcript was not compared ({code}).</source>
        <translation>没有比对文本（{code}）。</translation>
    </message>
    <message>
        <source>The recording says something else: “{text}”</source>
        <translation>录音内容与文字不符，识别结果：“{text}”</translation>
    </message>
    <message>
        <source>Heard: “{text}”</source>
        <translation>识别结果：“{text}”</translation>
    </message>
    <message>
        <source>The recording contains these words.</source>
        <translation>文本与录音一致。</translation>
    </message>
    <message numerus="yes">
        <source>and %n other place(s)</source>
        <translation>
            <numerusform>另有 %n 处</numerusform>
        </translation>
    </message>
    <message>
        <source>The recording differs: {places}.</source>
        <translation>与录音不一致：{places}。</translation>
    </message>
    <message>
        <source>Download {name} ({size})</source>
        <translation>下载 {name}（{size}）</translation>
    </message>
    <message>
        <source>{model} can compare the words with the recording. It is not installed yet.</source>
        <translation>安装 {model} 后，可以自动核对文字与录音。</translation>
    </message>
    <message>
        <source>{model} is being downloaded. The words will then be compared with the recording.</source>
        <translation>正在下载 {model}，完成后会自动核对文字与录音。</translation>
    </message>
    <message>
        <source>“{typed}” was not heard</source>
        <translation>没有听到“{typed}”</translation>
    </message>
    <message>
        <source>“{heard}” is missing here</source>
        <translation>漏写了“{heard}”</translation>
    </message>
    <message>
        <source>words are missing here</source>
        <translation>有漏写的字词</translation>
    </message>
    <message>
        <source>“{typed}” was heard as “{heard}”</source>
        <translation>“{typed}”听起来是“{heard}”</translation>
    </message>
    <message>
        <source>words other than “{typed}” were heard</source>
        <translation>“{typed}”与听到的不同</translation>
    </message>
    <message>
        <source>Type the words of the recording.</source>
        <translation>请输入录音中的文字。</translation>
    </message>
    <message>
        <source>There is no recogniser for this language, so the transcript is not compared.</source>
        <translation>没有适用于此语言的识别模型，因此不核对录音文字。</translation>
    </message>
    <message>
        <source>The recogniser does not understand this voice.</source>
        <translation>识别模型听不懂此音色。</translation>
    </message>
    <message>
        <source>Recognising the words…</source>
        <translation>正在识别文字…</translation>
    </message>
    <message>
        <source>No words were recognised.</source>
        <translation>没有识别出文字。</translation>
    </message>
    <message>
        <source>No words were recognised ({code}).</source>
        <translation>没有识别出文字（{code}）。</translation>
    </message>
</context>
<context>
    <name>TransportBar</name>
    <message>
        <source>Playback</source>
        <translation>播放</translation>
    </message>
    <message>
        <source>Playback statistics</source>
        <translation>播放指标</translation>
    </message>
    <message>
        <source>Line {number}: {text}</source>
        <translation>第 {number} 行：{text}</translation>
    </message>
    <message>
        <source>Line {number}</source>
        <translation>第 {number} 行</translation>
    </message>
    <message>
        <source>+ and - zoom, 0 shows all, Left and Right move the position.</source>
        <translation>+ 和 - 缩放，0 显示全部，左右方向键移动播放位置。</translation>
    </message>
    <message>
        <source>Latency {value}</source>
        <translation>首音延迟 {value}</translation>
    </message>
    <message>
        <source>network {value}</source>
        <translation>网络 {value}</translation>
    </message>
    <message>
        <source>RTF {value}</source>
        <translation>RTF {value}</translation>
    </message>
    <message>
        <source>Dropouts {count}</source>
        <translation>卡顿 {count}</translation>
    </message>
    <message>
        <source>Buffered {value}</source>
        <translation>缓冲 {value}</translation>
    </message>
    <message>
        <source>Latency includes: network {network}, queue {queue}</source>
        <translation>首音延迟包括：网络 {network}，排队 {queue}</translation>
    </message>
    <message>
        <source>RTF there {factor}; network delays of later audio up to {delay}</source>
        <translation>对方 RTF {factor}；后续音频的网络延迟最大 {delay}</translation>
    </message>
    <message>
        <source>Latency: time from the request to the first audio.
RTF: computing time per second of speech; below 1 is faster than real time.
Buffered: generated audio that has not been played yet.
Dropouts: interruptions of playback in this session.</source>
        <translation>首音延迟：从发出请求到播出首个音频的时间。
RTF：生成每秒语音所需的计算时间，小于 1 即快于实时。
缓冲：已生成但尚未播放的音频。
卡顿：本次运行期间播放中断的次数。</translation>
    </message>
    <message>
        <source>Playback position</source>
        <translation>播放位置</translation>
    </message>
    <message>
        <source>Speak</source>
        <translation>生成</translation>
    </message>
    <message>
        <source>No take yet</source>
        <translation>还没有音频</translation>
    </message>
</context>
<context>
    <name>TransportController</name>
    <message>
        <source>This line has not been spoken yet. Press Ctrl+Enter to speak it.</source>
        <translation>此行尚未生成，按 Ctrl+Enter 生成。</translation>
    </message>
    <message>
        <source>This line has no character.</source>
        <translation>这一行没有角色。</translation>
    </message>
    <message>
        <source>Queue cleared.</source>
        <translation>队列已清空。</translation>
    </message>
</context>
<context>
    <name>UndoActions</name>
    <message>
        <source>Undo {step}</source>
        <translation>撤销 {step}</translation>
    </message>
    <message>
        <source>Redo {step}</source>
        <translation>重做 {step}</translation>
    </message>
</context>
<context>
    <name>UnwrittenBar</name>
    <message>
        <source>Save elsewhere…</source>
        <translation>保存到其他位置…</translation>
    </message>
    <message>
        <source>All changes are saved.</source>
        <translation>所有更改均已保存。</translation>
    </message>
</context>
<context>
    <name>UpdateDialog</name>
    <message>
        <source>New</source>
        <translation>新增</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>修改</translation>
    </message>
    <message>
        <source>Moved</source>
        <translation>移动</translation>
    </message>
    <message>
        <source>Removed</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Unchanged</source>
        <translation>未变</translation>
    </message>
    <message>
        <source>{count} new</source>
        <translation>新增 {count} 行</translation>
    </message>
    <message>
        <source>{count} changed</source>
        <translation>修改 {count} 行</translation>
    </message>
    <message>
        <source>{count} moved</source>
        <translation>移动 {count} 行</translation>
    </message>
    <message>
        <source>{count} removed</source>
        <translation>删除 {count} 行</translation>
    </message>
    <message>
        <source>{count} unchanged</source>
        <translation>{count} 行未变</translation>
    </message>
    <message>
        <source>{change} (locked)</source>
        <translation>{change}（已锁定）</translation>
    </message>
    <message>
        <source>{field}: {before} → {after}</source>
        <translation>{field}：{before} → {after}</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>Style</source>
        <translation>风格</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>语速</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>停顿</translation>
    </message>
    <message>
        <source>File name</source>
        <translation>文件名</translation>
    </message>
    <message>
        <source>Character</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>Heading</source>
        <translation>标题</translation>
    </message>
    <message>
        <source>Spoken or note</source>
        <translation>台词或备注</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Update from {name}</source>
        <translation>从 {name} 更新</translation>
    </message>
    <message>
        <source>Delete removed lines and their takes</source>
        <translation>删除这些行及其音频</translation>
    </message>
    <message>
        <source>Otherwise they are kept below a folded heading at the end of the script</source>
        <translation>否则保留在脚本末尾的折叠标题下</translation>
    </message>
    <message numerus="yes">
        <source>%n locked line(s) stay as they are.</source>
        <translation>
            <numerusform>%n 行已锁定，保持不变。</numerusform>
        </translation>
    </message>
    <message>
        <source>Update</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>Unchanged lines keep their takes, locks and notes.</source>
        <translation>未变的行保留已有的音频、锁定和备注。</translation>
    </message>
    <message>
        <source>Changes</source>
        <translation>变化</translation>
    </message>
    <message>
        <source>Change</source>
        <translation>变化</translation>
    </message>
    <message>
        <source>ID</source>
        <translation>编号</translation>
    </message>
    <message>
        <source>Before</source>
        <translation>原来</translation>
    </message>
    <message>
        <source>After</source>
        <translation>现在</translation>
    </message>
</context>
<context>
    <name>VoiceConversionController</name>
    <message>
        <source>All files ({patterns})</source>
        <translation>所有文件 ({patterns})</translation>
    </message>
    <message>
        <source>Convert a recording to the voice {voice}</source>
        <translation>将录音转换为音色“{voice}”</translation>
    </message>
    <message>
        <source>Audio files ({patterns})</source>
        <translation>音频文件 ({patterns})</translation>
    </message>
</context>
<context>
    <name>VoiceDelegate</name>
    <message>
        <source>Line voice</source>
        <translation>此行的音色</translation>
    </message>
</context>
<context>
    <name>VoiceEdits</name>
    <message>
        <source>New voice {name}</source>
        <translation>新建音色 {name}</translation>
    </message>
    <message>
        <source>New voice {name}, used for the line</source>
        <translation>新建音色“{name}”并用于该行</translation>
    </message>
    <message>
        <source>{count} new voices</source>
        <translation>新建 {count} 个音色</translation>
    </message>
    <message>
        <source>Delete voice {name}</source>
        <translation>删除音色 {name}</translation>
    </message>
    <message>
        <source>Delete {count} voices</source>
        <translation>删除 {count} 个音色</translation>
    </message>
    <message>
        <source>Rename {name}</source>
        <translation>重命名 {name}</translation>
    </message>
    <message>
        <source>Change {name}</source>
        <translation>修改 {name}</translation>
    </message>
    <message>
        <source>Restore voice {name}</source>
        <translation>恢复音色 {name}</translation>
    </message>
</context>
<context>
    <name>VoiceImporter</name>
    <message>
        <source>New voices from files</source>
        <translation>从文件新建音色</translation>
    </message>
    <message>
        <source>All files ({patterns})</source>
        <translation>所有文件 ({patterns})</translation>
    </message>
    <message>
        <source>Reading {name}…</source>
        <translation>正在读取 {name}…</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>My voice</source>
        <translation>我的音色</translation>
    </message>
    <message>
        <source>Audio files ({patterns})</source>
        <translation>音频文件 ({patterns})</translation>
    </message>
    <message>
        <source>Drop to create a voice from {name}</source>
        <translation>松开即可用 {name} 创建音色</translation>
    </message>
    <message>
        <source>Drop to create one voice per file</source>
        <translation>松开即可为每个文件创建音色</translation>
    </message>
    <message>
        <source>Audio and voice files ({patterns})</source>
        <translation>音频和音色文件 ({patterns})</translation>
    </message>
    <message>
        <source>Creating voices: {number} of {total}…</source>
        <translation>正在创建音色（{number}/{total}）…</translation>
    </message>
    <message>
        <source>Added voice {name}</source>
        <translation>已添加音色 {name}</translation>
    </message>
    <message>
        <source>Added voice {name} and used it here</source>
        <translation>已添加音色“{name}”，并用于当前行</translation>
    </message>
    <message>
        <source>Added {count} voices</source>
        <translation>已添加 {count} 个音色</translation>
    </message>
</context>
<context>
    <name>VoiceList</name>
    <message>
        <source>Voices</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>Restore deleted voice</source>
        <translation>恢复已删除的音色</translation>
    </message>
    <message>
        <source>{name}, deleted on {day}</source>
        <translation>{name}，删除于 {day}</translation>
    </message>
    <message>
        <source>Use for selected lines</source>
        <translation>用于选中的行</translation>
    </message>
    <message>
        <source>Play clip</source>
        <translation>播放参考音频</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Transcript, notes and consent…</source>
        <translation>参考文本、备注与授权…</translation>
    </message>
    <message>
        <source>New voice from this recording…</source>
        <translation>用此录音新建音色…</translation>
    </message>
    <message>
        <source>Repair recording…</source>
        <translation>修复录音…</translation>
    </message>
    <message>
        <source>Show preparation error</source>
        <translation>查看预处理错误</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>创建副本</translation>
    </message>
    <message>
        <source>Mix both voices</source>
        <translation>混合两个音色</translation>
    </message>
    <message>
        <source>Export voice…</source>
        <translation>导出音色…</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Export {name}</source>
        <translation>导出 {name}</translation>
    </message>
    <message>
        <source>Voices ({patterns})</source>
        <translation>音色文件 ({patterns})</translation>
    </message>
    <message>
        <source>Saved {path}</source>
        <translation>已保存 {path}</translation>
    </message>
</context>
<context>
    <name>VoiceModel</name>
    <message>
        <source>Consent: {by}</source>
        <translation>授权人：{by}</translation>
    </message>
    <message>
        <source>{seconds:.1f} seconds</source>
        <translation>{seconds:.1f} 秒</translation>
    </message>
    <message>
        <source>Quality: {grade}</source>
        <translation>质量：{grade}</translation>
    </message>
    <message>
        <source>Bundled voice</source>
        <translation>内置音色</translation>
    </message>
    <message>
        <source>Built-in voice of {models}</source>
        <translation>{models} 的内置音色</translation>
    </message>
    <message>
        <source>No transcript</source>
        <translation>无参考文本</translation>
    </message>
    <message>
        <source>Ctrl+{number}: use for selected lines</source>
        <translation>Ctrl+{number}：用于选中的行</translation>
    </message>
    <message>
        <source>Bundled voice {name}</source>
        <translation>内置音色 {name}</translation>
    </message>
</context>
<context>
    <name>VoiceNameRow</name>
    <message>
        <source>Name in requests</source>
        <translation>请求中的名称</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>Default voice</source>
        <translation>默认音色</translation>
    </message>
</context>
<context>
    <name>VoiceNames</name>
    <message>
        <source>There is no voice named {name}. Choose another voice, or add one with this name.</source>
        <translation>没有名为“{name}”的音色。请选择其他音色，或添加同名音色。</translation>
    </message>
</context>
<context>
    <name>VoicePreparation</name>
    <message>
        <source>Queued</source>
        <translation>排队中</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>已就绪</translation>
    </message>
    <message>
        <source>Preparation failed</source>
        <translation>预处理失败</translation>
    </message>
    <message>
        <source>Needs another model</source>
        <translation>需要其他模型</translation>
    </message>
    <message>
        <source>Needs {model}</source>
        <translation>需要 {model}</translation>
    </message>
    <message>
        <source>Preparing, {percent}%</source>
        <translation>正在预处理，{percent}%</translation>
    </message>
</context>
<context>
    <name>Voices</name>
    <message>
        <source>{seconds:.1f} s</source>
        <translation>{seconds:.1f} 秒</translation>
    </message>
</context>
<context>
    <name>VoicesPanel</name>
    <message>
        <source>New voice</source>
        <translation>新建音色</translation>
    </message>
    <message>
        <source>Record…</source>
        <translation>录音…</translation>
    </message>
    <message>
        <source>Search voices</source>
        <translation>搜索音色</translation>
    </message>
    <message>
        <source>Record a voice with the microphone</source>
        <translation>用麦克风录制音色</translation>
    </message>
    <message>
        <source>Create voices from audio or .voice files. You can also drop files here.</source>
        <translation>用音频或 .voice 文件创建音色，也可以将文件拖到这里。</translation>
    </message>
    <message>
        <source>No voices yet.

Drop a recording of a speaker here. Three to ten seconds are enough.</source>
        <translation>还没有音色。

将一段单人录音拖到这里，3 到 10 秒即可。</translation>
    </message>
    <message>
        <source>No matching voices</source>
        <translation>没有匹配的音色</translation>
    </message>
    <message>
        <source>Names, transcripts and notes. Words with # in the notes are tags.</source>
        <translation>搜索名称、参考文本和备注。备注中以 # 开头的词是标签。</translation>
    </message>
</context>
<context>
    <name>WaveformView</name>
    <message>
        <source>No audio yet</source>
        <translation>暂无音频</translation>
    </message>
    <message>
        <source>Visible part of the audio</source>
        <translation>音频的可见部分</translation>
    </message>
    <message>
        <source>Waveform</source>
        <translation>波形图</translation>
    </message>
    <message>
        <source>{seconds:.1f} seconds of audio</source>
        <translation>{seconds:.1f} 秒音频</translation>
    </message>
    <message>
        <source>Selected from {start:.2f} to {end:.2f} seconds</source>
        <translation>选中 {start:.2f} 到 {end:.2f} 秒</translation>
    </message>
</context>
<context>
    <name>WordModel</name>
    <message>
        <source>Word</source>
        <translation>词语</translation>
    </message>
    <message>
        <source>Pronunciation</source>
        <translation>拼音（音标）</translation>
    </message>
    <message>
        <source>Aa</source>
        <translation>Aa</translation>
    </message>
    <message>
        <source>Pinyin such as chong2 qing4, or ARPAbet such as W AY1 N D; Fun-CosyVoice3 only</source>
        <translation>拼音（如 chong2 qing4）或 ARPAbet（如 W AY1 N D）；仅限 Fun-CosyVoice3</translation>
    </message>
    <message>
        <source>Read as</source>
        <translation>替换文本</translation>
    </message>
    <message>
        <source>As written in the text</source>
        <translation>文本中的写法</translation>
    </message>
    <message>
        <source>Replacement text, for any model</source>
        <translation>替换文本，适用于所有模型</translation>
    </message>
    <message>
        <source>Match case</source>
        <translation>区分大小写</translation>
    </message>
</context>
<context>
    <name>WordStrip</name>
    <message>
        <source>Words of the take</source>
        <translation>这条音频的词</translation>
    </message>
</context>
<context>
    <name>WordsField</name>
    <message>
        <source>(mixed)</source>
        <translation>（多个值）</translation>
    </message>
</context>
<context>
    <name>_CharacterList</name>
    <message>
        <source>Characters</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>Character</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>音色</translation>
    </message>
    <message>
        <source>Lines</source>
        <translation>台词数</translation>
    </message>
</context>
<context>
    <name>_Files</name>
    <message>
        <source>of an earlier export; kept</source>
        <translation>以前导出的文件，会保留</translation>
    </message>
    <message>
        <source>new</source>
        <translation>新文件</translation>
    </message>
    <message>
        <source>will be replaced</source>
        <translation>将被替换</translation>
    </message>
    <message>
        <source>up to date</source>
        <translation>无需更改</translation>
    </message>
</context>
<context>
    <name>_ReadingDialog</name>
    <message>
        <source>Reading {name}</source>
        <translation>正在读取 {name}</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>导入</translation>
    </message>
</context>
</TS>
