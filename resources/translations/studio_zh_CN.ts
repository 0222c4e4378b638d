<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>Actions</name>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>Speak</source>
        <translation>朗读</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>播放</translation>
    </message>
    <message>
        <source>Voices</source>
        <translation>声音</translation>
    </message>
    <message>
        <source>View</source>
        <translation>视图</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
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
        <source>Import text…</source>
        <translation>导入文本…</translation>
    </message>
    <message>
        <source>Export sound…</source>
        <translation>导出声音…</translation>
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
        <translation>复制这些行</translation>
    </message>
    <message>
        <source>Remove lines</source>
        <translation>删除这些行</translation>
    </message>
    <message>
        <source>Split line at the cursor</source>
        <translation>在光标处拆分</translation>
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
        <translation>锁定此行</translation>
    </message>
    <message>
        <source>A locked line is not spoken again and not edited by accident</source>
        <translation>锁定的行不会再次朗读，也不会被误改</translation>
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
        <source>Pronunciation…</source>
        <translation>发音…</translation>
    </message>
    <message>
        <source>Words that are read wrongly, and how they should be said</source>
        <translation>读错的词，以及它们应该怎么读</translation>
    </message>
    <message>
        <source>Speak line</source>
        <translation>朗读此行</translation>
    </message>
    <message>
        <source>Make a new take of the selected lines, and hear it while it is made</source>
        <translation>为选中的行生成一个新版本，边生成边试听</translation>
    </message>
    <message>
        <source>Speak all that changed</source>
        <translation>朗读所有改动的行</translation>
    </message>
    <message>
        <source>Speak every line that has no take, or has changed since its take</source>
        <translation>朗读所有尚无版本、或生成版本后又有改动的行</translation>
    </message>
    <message>
        <source>Speak four takes</source>
        <translation>朗读四个版本</translation>
    </message>
    <message>
        <source>Four takes of the line with four seeds, to choose from</source>
        <translation>用四个种子生成此行的四个版本，供挑选</translation>
    </message>
    <message>
        <source>Speak a recording…</source>
        <translation>朗读录音…</translation>
    </message>
    <message>
        <source>What is said in a sound file, said again in the voice of the line</source>
        <translation>把声音文件里说的话，用这一行的声音重新说出来</translation>
    </message>
    <message>
        <source>Pause the queue</source>
        <translation>暂停队列</translation>
    </message>
    <message>
        <source>Cancel all that waits</source>
        <translation>取消所有等待的任务</translation>
    </message>
    <message>
        <source>Play or stop</source>
        <translation>播放或停止</translation>
    </message>
    <message>
        <source>Play from here</source>
        <translation>从此处播放</translation>
    </message>
    <message>
        <source>One line after the other, also those that are still being made</source>
        <translation>逐行播放，包括仍在生成的行</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Previous take</source>
        <translation>上一个版本</translation>
    </message>
    <message>
        <source>Next take</source>
        <translation>下一个版本</translation>
    </message>
    <message>
        <source>Keep this take</source>
        <translation>保留此版本</translation>
    </message>
    <message>
        <source>A kept take stays when others are cleared away</source>
        <translation>清理其他版本时，保留的版本不会被删除</translation>
    </message>
    <message>
        <source>Remove this take</source>
        <translation>删除此版本</translation>
    </message>
    <message>
        <source>Compare with the take before</source>
        <translation>与之前的版本对比</translation>
    </message>
    <message>
        <source>New voice from files…</source>
        <translation>从文件新建声音…</translation>
    </message>
    <message>
        <source>Record a voice…</source>
        <translation>录制声音…</translation>
    </message>
    <message>
        <source>Reset layout</source>
        <translation>重置布局</translation>
    </message>
    <message>
        <source>Guide</source>
        <translation>使用指南</translation>
    </message>
    <message>
        <source>Keyboard shortcuts…</source>
        <translation>键盘快捷键…</translation>
    </message>
    <message>
        <source>About Timbre Studio</source>
        <translation>关于 Timbre Studio</translation>
    </message>
    <message>
        <source>Voice {number} for the selected lines</source>
        <translation>选中的行使用声音 {number}</translation>
    </message>
</context>
<context>
    <name>CardList</name>
    <message>
        <source>Voices</source>
        <translation>声音</translation>
    </message>
</context>
<context>
    <name>DeletedMenu</name>
    <message>
        <source>Have back a deleted voice</source>
        <translation>找回已删除的声音</translation>
    </message>
    <message>
        <source>{name}, deleted on {day}</source>
        <translation>{name}，删除于 {day}</translation>
    </message>
</context>
<context>
    <name>DetailsForm</name>
    <message>
        <source>Name of the voice</source>
        <translation>声音的名称</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Whatever you want to remember</source>
        <translation>想记下的任何内容</translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation>名称(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Words</source>
        <translation>文字(&amp;W)</translation>
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
        <source>What is said in the chosen part, word for word</source>
        <translation>所选片段中说的话，逐字写下</translation>
    </message>
    <message>
        <source>What is said in the clip</source>
        <translation>录音中说的话</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Not known</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>The owner of this voice agrees to its use</source>
        <translation>声音的主人同意使用</translation>
    </message>
    <message>
        <source>Clone only voices whose owners agree. This note is kept with the voice.</source>
        <translation>只克隆主人同意使用的声音。这条记录与声音一同保存。</translation>
    </message>
    <message>
        <source>Who agreed</source>
        <translation>同意者</translation>
    </message>
    <message>
        <source>What for</source>
        <translation>用途</translation>
    </message>
    <message>
        <source>For example: one audio book</source>
        <translation>例如：一本有声书</translation>
    </message>
    <message>
        <source>When</source>
        <translation>日期</translation>
    </message>
    <message>
        <source>Who</source>
        <translation>同意者</translation>
    </message>
    <message>
        <source>Zero-shot mode: the model hears the clip and knows its words, which makes the best likeness. The words must be those of the chosen part.</source>
        <translation>零样本模式：模型听到录音并知道其中的文字，这样最像本人。文字必须与所选片段一致。</translation>
    </message>
    <message>
        <source>Without the words the studio uses cross-lingual mode: it imitates the voice by its sound alone. You can write them down later, too.</source>
        <translation>没有文字时使用跨语种模式：只凭声音来模仿。文字也可以以后再补。</translation>
    </message>
</context>
<context>
    <name>DictionaryDialog</name>
    <message>
        <source>Pronunciation</source>
        <translation>发音</translation>
    </message>
    <message>
        <source>Words of this project</source>
        <translation>本项目的词语</translation>
    </message>
    <message>
        <source>Words of all projects</source>
        <translation>所有项目的词语</translation>
    </message>
    <message>
        <source>This project</source>
        <translation>本项目</translation>
    </message>
    <message>
        <source>All projects</source>
        <translation>所有项目</translation>
    </message>
</context>
<context>
    <name>DoctorDialog</name>
    <message>
        <source>New voice</source>
        <translation>新声音</translation>
    </message>
    <message>
        <source>The recording, with the part that becomes the voice</source>
        <translation>录音，以及将成为声音的片段</translation>
    </message>
    <message>
        <source>Make the voice</source>
        <translation>创建声音</translation>
    </message>
    <message>
        <source>The part between the handles becomes the voice. Three to ten seconds of one person, without music, are best; the models need 16 000 samples a second and hear no more than 30 seconds.</source>
        <translation>两个手柄之间的片段将成为声音。最好是一个人说的三到十秒，没有音乐；模型需要每秒 16 000 个采样，最多听 30 秒。</translation>
    </message>
    <message>
        <source>Propose the best part again</source>
        <translation>重新推荐最佳片段</translation>
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
        <source>Show the chosen part</source>
        <translation>显示所选片段</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>显示全部</translation>
    </message>
    <message>
        <source>{seconds:.1f} s are kept, trimmed of silence, with a short silent tail</source>
        <translation>保留 {seconds:.1f} 秒：去掉两端静音，末尾留一小段静音</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Listen to this part</source>
        <translation>试听此片段</translation>
    </message>
</context>
<context>
    <name>Documents</name>
    <message>
        <source>Untitled</source>
        <translation>未命名</translation>
    </message>
    <message>
        <source>Timbre scripts (*{suffix})</source>
        <translation>Timbre 脚本 (*{suffix})</translation>
    </message>
    <message>
        <source>Open a script</source>
        <translation>打开脚本</translation>
    </message>
    <message>
        <source>Texts and tables ({patterns})</source>
        <translation>文本和表格 ({patterns})</translation>
    </message>
    <message>
        <source>Import a text</source>
        <translation>导入文本</translation>
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
        <source>Save the script</source>
        <translation>保存脚本</translation>
    </message>
    <message>
        <source>“{name}” has changes that are not saved.</source>
        <translation>“{name}”有尚未保存的改动。</translation>
    </message>
    <message>
        <source>Without saving, they are lost.</source>
        <translation>如果不保存，这些改动将会丢失。</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Do not save</source>
        <translation>不保存</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Replace it</source>
        <translation>覆盖</translation>
    </message>
</context>
<context>
    <name>DropOverlay</name>
    <message>
        <source>Drop files here</source>
        <translation>把文件拖放到这里</translation>
    </message>
</context>
<context>
    <name>Drops</name>
    <message>
        <source>Drop it to open the script</source>
        <translation>松开以打开脚本</translation>
    </message>
    <message>
        <source>Drop it to add its lines to the script</source>
        <translation>松开以把内容添加到脚本</translation>
    </message>
</context>
<context>
    <name>EditDialog</name>
    <message>
        <source>About {name}</source>
        <translation>关于 {name}</translation>
    </message>
</context>
<context>
    <name>Errors</name>
    <message>
        <source>The model was not found.</source>
        <translation>找不到模型。</translation>
    </message>
    <message>
        <source>This kind of model is not known.</source>
        <translation>不认识这种模型。</translation>
    </message>
    <message>
        <source>The model&apos;s settings are faulty.</source>
        <translation>模型的设置有误。</translation>
    </message>
    <message>
        <source>A file of the model is missing.</source>
        <translation>缺少一个模型文件。</translation>
    </message>
    <message>
        <source>A file of the model is damaged.</source>
        <translation>一个模型文件已损坏。</translation>
    </message>
    <message>
        <source>The model&apos;s weights do not fit together.</source>
        <translation>模型的权重不匹配。</translation>
    </message>
    <message>
        <source>This computer cannot run the model in that way.</source>
        <translation>这台电脑无法以这种方式运行模型。</translation>
    </message>
    <message>
        <source>The recording cannot be read.</source>
        <translation>无法读取录音。</translation>
    </message>
    <message>
        <source>The recording is too short.</source>
        <translation>录音太短。</translation>
    </message>
    <message>
        <source>The recording is too long.</source>
        <translation>录音太长。</translation>
    </message>
    <message>
        <source>The recording is silent.</source>
        <translation>录音没有声音。</translation>
    </message>
    <message>
        <source>The recording is broken.</source>
        <translation>录音已损坏。</translation>
    </message>
    <message>
        <source>The recording&apos;s sample rate is too low.</source>
        <translation>录音的采样率太低。</translation>
    </message>
    <message>
        <source>There is no usable sound device.</source>
        <translation>没有可用的声音设备。</translation>
    </message>
    <message>
        <source>There is no screen.</source>
        <translation>没有屏幕。</translation>
    </message>
    <message>
        <source>There is nothing to be spoken.</source>
        <translation>没有可朗读的内容。</translation>
    </message>
    <message>
        <source>The text is too long.</source>
        <translation>文本太长。</translation>
    </message>
    <message>
        <source>The text cannot be read.</source>
        <translation>无法读取文本。</translation>
    </message>
    <message>
        <source>The model does not know this style.</source>
        <translation>模型不认识这种风格。</translation>
    </message>
    <message>
        <source>The model cannot do that.</source>
        <translation>模型做不到这一点。</translation>
    </message>
    <message>
        <source>The voice was not found.</source>
        <translation>找不到声音。</translation>
    </message>
    <message>
        <source>There is a voice of that name already.</source>
        <translation>已有同名的声音。</translation>
    </message>
    <message>
        <source>The voice file cannot be used.</source>
        <translation>无法使用此声音文件。</translation>
    </message>
    <message>
        <source>A voice cannot be called that.</source>
        <translation>声音不能用这个名称。</translation>
    </message>
    <message>
        <source>The voice belongs to another kind of model.</source>
        <translation>此声音属于另一种模型。</translation>
    </message>
    <message>
        <source>The list of voices is damaged.</source>
        <translation>声音列表已损坏。</translation>
    </message>
    <message>
        <source>The model said nothing.</source>
        <translation>模型没有发出声音。</translation>
    </message>
    <message>
        <source>The text is too long for the model.</source>
        <translation>文本对模型来说太长。</translation>
    </message>
    <message>
        <source>The model computed something impossible.</source>
        <translation>模型计算出现异常。</translation>
    </message>
    <message>
        <source>There is not enough memory.</source>
        <translation>内存不足。</translation>
    </message>
    <message>
        <source>The process that speaks has ended.</source>
        <translation>朗读进程已结束。</translation>
    </message>
    <message>
        <source>The process that speaks does not answer.</source>
        <translation>朗读进程没有响应。</translation>
    </message>
    <message>
        <source>The disk is full.</source>
        <translation>磁盘已满。</translation>
    </message>
    <message>
        <source>It cannot be written.</source>
        <translation>无法写入。</translation>
    </message>
    <message>
        <source>A setting cannot be used.</source>
        <translation>某项设置无法使用。</translation>
    </message>
    <message>
        <source>This is a fault of the program.</source>
        <translation>这是程序的错误。</translation>
    </message>
    <message>
        <source>The installation is incomplete.</source>
        <translation>安装不完整。</translation>
    </message>
    <message>
        <source>The project cannot be read.</source>
        <translation>无法读取项目。</translation>
    </message>
    <message>
        <source>The text file cannot be read.</source>
        <translation>无法读取文本文件。</translation>
    </message>
    <message>
        <source>The project is open elsewhere.</source>
        <translation>项目已在别处打开。</translation>
    </message>
    <message>
        <source>The project was changed elsewhere.</source>
        <translation>项目已在别处被修改。</translation>
    </message>
    <message>
        <source>The take was not found.</source>
        <translation>找不到该版本。</translation>
    </message>
    <message>
        <source>The pronunciation cannot be used.</source>
        <translation>无法使用该发音。</translation>
    </message>
    <message>
        <source>The folder is in use.</source>
        <translation>文件夹正在使用中。</translation>
    </message>
</context>
<context>
    <name>ExportDialog</name>
    <message>
        <source>Export sound</source>
        <translation>导出声音</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Script</source>
        <translation>脚本</translation>
    </message>
    <message>
        <source>No folder is chosen.</source>
        <translation>没有选择文件夹。</translation>
    </message>
    <message>
        <source>Choose where the files go.</source>
        <translation>请选择文件的存放位置。</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) could not be spoken, so nothing was exported.</source>
        <translation>
            <numerusform>有 %n 行无法朗读，因此没有导出任何文件。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) changed while they were spoken.</source>
        <translation>
            <numerusform>有 %n 行在朗读时被修改了。</numerusform>
        </translation>
    </message>
    <message>
        <source>Export again.</source>
        <translation>请重新导出。</translation>
    </message>
</context>
<context>
    <name>ExportForm</name>
    <message>
        <source>Leave them out</source>
        <translation>不导出这些行</translation>
    </message>
    <message>
        <source>Name of the joined file</source>
        <translation>合并文件的名称</translation>
    </message>
    <message>
        <source>Replace files that are there and not from an export</source>
        <translation>替换已存在的、并非导出生成的文件</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) have not been spoken, or changed since:</source>
        <translation>
            <numerusform>有 %n 行尚未朗读，或朗读后有改动：</numerusform>
        </translation>
    </message>
    <message>
        <source>Speak them first</source>
        <translation>先朗读这些行</translation>
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
        <translation>行</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Sound</source>
        <translation>声音</translation>
    </message>
    <message>
        <source>Besides</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>Insert a field</source>
        <translation>插入字段</translation>
    </message>
    <message>
        <source>Insert a field into the name</source>
        <translation>在文件名中插入字段</translation>
    </message>
    <message>
        <source>Number of the line</source>
        <translation>行号</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>声音</translation>
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
        <source>Name of the script</source>
        <translation>脚本名称</translation>
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
        <source>Previous place</source>
        <translation>上一处</translation>
    </message>
    <message>
        <source>Next place</source>
        <translation>下一处</translation>
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
    <message numerus="yes">
        <source>%n place(s)</source>
        <translation>
            <numerusform>%n 处</numerusform>
        </translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>未找到</translation>
    </message>
</context>
<context>
    <name>FindingsView</name>
    <message>
        <source>{grade}: {sentence} {advice}</source>
        <translation>{grade}：{sentence}{advice}</translation>
    </message>
</context>
<context>
    <name>GuideDialog</name>
    <message>
        <source>Guide</source>
        <translation>使用指南</translation>
    </message>
    <message>
        <source>A voice</source>
        <translation>声音</translation>
    </message>
    <message>
        <source>Drop a recording of one person on the window: three to ten seconds, without music. Or press **Ctrl+R** and record one. If you also write down what is said in it, the likeness gains. Clone only voices whose owners agree.</source>
        <translation>把一个人的录音拖到窗口上：三到十秒，没有音乐。也可以按 **Ctrl+R** 录制。如果同时写下录音里说的话，会更像。只克隆得到本人同意的声音。</translation>
    </message>
    <message>
        <source>A script</source>
        <translation>脚本</translation>
    </message>
    <message>
        <source>Write a line and press **Ctrl+Enter**: you hear it while it is still being made. **Enter** goes on to the next line. Paste or drop a text to make lines of it; every step can be undone.</source>
        <translation>写一行，按 **Ctrl+Enter**：还在生成时就能听到。**Enter** 转到下一行。粘贴或拖入文本会变成多行；每一步都可以撤销。</translation>
    </message>
    <message>
        <source>A slash in the text offers what the model can do besides words: a breath, laughter, emphasis. **[pause 0.5]** is half a second of silence.</source>
        <translation>在文本中输入斜杠，会列出模型在文字之外能做的事：呼吸、笑声、强调。**[pause 0.5]** 是半秒静音。</translation>
    </message>
    <message>
        <source>Style and takes</source>
        <translation>风格与版本</translation>
    </message>
    <message>
        <source>On the right you choose a style, or describe one in your own words, and the speed. Speak again for another reading: every take stays. **[** and **]** go through them, **Ctrl+B** compares two, **Ctrl+K** marks the ones to keep, **Ctrl+L** locks the line.</source>
        <translation>在右侧选择风格，或用自己的话描述，还可以调整语速。再次朗读会得到新的读法：每个版本都会保留。**[** 和 **]** 切换版本，**Ctrl+B** 对比两个版本，**Ctrl+K** 标记要保留的版本，**Ctrl+L** 锁定此行。</translation>
    </message>
    <message>
        <source>**Changed** means that the line says something else now than its take. **Ctrl+Shift+Enter** speaks all of those.</source>
        <translation>**已改动**表示这一行现在的内容与它的版本不同。**Ctrl+Shift+Enter** 朗读所有这样的行。</translation>
    </message>
    <message>
        <source>Listening and exporting</source>
        <translation>试听与导出</translation>
    </message>
    <message>
        <source>**Space** plays the line, **Shift+Space** everything from here, **Esc** is silence. **Ctrl+E** writes sound files, one for each line or one for all.</source>
        <translation>**空格**播放此行，**Shift+空格**从此处全部播放，**Esc** 静音。**Ctrl+E** 写出声音文件，可以每行一个，也可以合并成一个。</translation>
    </message>
    <message>
        <source>All keys can be changed: **Ctrl+/**.</source>
        <translation>所有快捷键都可以修改：**Ctrl+/**。</translation>
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
        <translation>版本</translation>
    </message>
    <message numerus="yes">
        <source>%n take(s)</source>
        <translation>
            <numerusform>%n 个版本</numerusform>
        </translation>
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
    <name>LevelMeter</name>
    <message>
        <source>Level</source>
        <translation>电平</translation>
    </message>
    <message>
        <source>Too loud</source>
        <translation>太响</translation>
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
        <translation>声音</translation>
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
        <translation>版本</translation>
    </message>
    <message>
        <source>empty</source>
        <translation>空</translation>
    </message>
    <message>
        <source>Edit text</source>
        <translation>编辑文本</translation>
    </message>
    <message>
        <source>Change voice</source>
        <translation>更改声音</translation>
    </message>
    <message>
        <source>Change style</source>
        <translation>更改风格</translation>
    </message>
    <message>
        <source>Draft</source>
        <translation>草稿</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>已改动</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>等待中</translation>
    </message>
    <message>
        <source>Speaking</source>
        <translation>朗读中</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>no voice</source>
        <translation>没有声音</translation>
    </message>
    <message>
        <source>This line has not been spoken yet.</source>
        <translation>这一行尚未朗读。</translation>
    </message>
    <message>
        <source>This line has changed since its take was spoken.</source>
        <translation>朗读之后，这一行有改动。</translation>
    </message>
    <message>
        <source>This line waits for its turn.</source>
        <translation>这一行在排队等待。</translation>
    </message>
    <message>
        <source>The chosen take says what is written here.</source>
        <translation>选中的版本与这里的文字一致。</translation>
    </message>
    <message>
        <source>This line is locked.</source>
        <translation>这一行已锁定。</translation>
    </message>
    <message>
        <source>{number} of {count}</source>
        <translation>{number}/{count}</translation>
    </message>
</context>
<context>
    <name>LogPanel</name>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Logs are kept in {folder}</source>
        <translation>日志保存在 {folder}</translation>
    </message>
    <message>
        <source>Copy all</source>
        <translation>全部复制</translation>
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
        <translation>声音</translation>
    </message>
    <message>
        <source>Line</source>
        <translation>行</translation>
    </message>
    <message>
        <source>Take, queue and log</source>
        <translation>版本、队列与日志</translation>
    </message>
    <message>
        <source>Take</source>
        <translation>版本</translation>
    </message>
    <message>
        <source>Queue</source>
        <translation>队列</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>This line has not been spoken yet: Ctrl+Enter speaks it.</source>
        <translation>这一行尚未朗读：按 Ctrl+Enter 朗读。</translation>
    </message>
    <message>
        <source>Nothing waits to be spoken any more.</source>
        <translation>已没有等待朗读的行。</translation>
    </message>
    <message>
        <source>Play was paused: there is no sound device. The take is kept all the same.</source>
        <translation>播放已暂停：没有声音设备。该版本仍会保留。</translation>
    </message>
    <message>
        <source>Line {number}: {text}</source>
        <translation>第 {number} 行：{text}</translation>
    </message>
</context>
<context>
    <name>MannerForm</name>
    <message>
        <source>For example: speak with great joy</source>
        <translation>例如：用非常开心的语气说</translation>
    </message>
    <message>
        <source>Always the same</source>
        <translation>固定不变</translation>
    </message>
    <message>
        <source>s</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>by the pattern of the export</source>
        <translation>按导出的命名规则</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>声音</translation>
    </message>
    <message>
        <source>Style</source>
        <translation>风格</translation>
    </message>
    <message>
        <source>Style in my own words</source>
        <translation>用自己的话描述风格</translation>
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
        <source>Always the same seed</source>
        <translation>固定种子</translation>
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
        <source>With the same seed the same text becomes the same speech; otherwise each take is a new reading.</source>
        <translation>种子相同，同样的文本就得到同样的语音；否则每个版本都是新的读法。</translation>
    </message>
    <message>
        <source>Pause after</source>
        <translation>行后停顿</translation>
    </message>
    <message>
        <source>Change voice</source>
        <translation>更改声音</translation>
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
        <source>Change sampling</source>
        <translation>更改采样</translation>
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
        <source>Instruct mode: the model follows your words, and takes the voice&apos;s sound as it is.</source>
        <translation>指令模式：模型按你的描述朗读，音色取自声音本身。</translation>
    </message>
    <message>
        <source>Instruct mode, because a style is chosen.</source>
        <translation>指令模式，因为选择了风格。</translation>
    </message>
    <message>
        <source>Choose a voice first.</source>
        <translation>请先选择声音。</translation>
    </message>
    <message>
        <source>Zero-shot mode: the voice has a transcript, which gives the best likeness.</source>
        <translation>零样本模式：声音带有文字稿，相似度最好。</translation>
    </message>
    <message>
        <source>Cross-lingual mode: the voice has no transcript. With one the likeness gains.</source>
        <translation>跨语种模式：声音没有文字稿。有文字稿会更像。</translation>
    </message>
</context>
<context>
    <name>MiniWaveform</name>
    <message>
        <source>Small waveform</source>
        <translation>小波形图</translation>
    </message>
</context>
<context>
    <name>NamePreview</name>
    <message>
        <source>Names of the files</source>
        <translation>文件名</translation>
    </message>
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
</context>
<context>
    <name>NewVoices</name>
    <message>
        <source>Drop it to make a voice of {name}</source>
        <translation>松开即可用 {name} 创建声音</translation>
    </message>
    <message>
        <source>Drop them to make a voice of each sound</source>
        <translation>松开即可用每段录音各创建一个声音</translation>
    </message>
    <message>
        <source>New voices from files</source>
        <translation>从文件创建声音</translation>
    </message>
    <message>
        <source>Sounds and voices ({patterns})</source>
        <translation>录音和声音文件 ({patterns})</translation>
    </message>
    <message>
        <source>All files ({patterns})</source>
        <translation>所有文件 ({patterns})</translation>
    </message>
    <message>
        <source>The folder</source>
        <translation>该文件夹</translation>
    </message>
    <message>
        <source>{names}: there is no sound in it that could become a voice.</source>
        <translation>{names}：其中没有可以成为声音的录音。</translation>
    </message>
    <message>
        <source>Drop recordings such as WAV, FLAC, MP3 or M4A.</source>
        <translation>请拖入 WAV、FLAC、MP3 或 M4A 等录音。</translation>
    </message>
    <message>
        <source>Reading {name}…</source>
        <translation>正在读取 {name}…</translation>
    </message>
    <message>
        <source>Voice</source>
        <translation>声音</translation>
    </message>
    <message>
        <source>My voice</source>
        <translation>我的声音</translation>
    </message>
    <message>
        <source>Making voices: {number} of {total}…</source>
        <translation>正在创建声音：第 {number} 个，共 {total} 个…</translation>
    </message>
    <message>
        <source>{count} of {total} files could not become voices.</source>
        <translation>{total} 个文件中有 {count} 个无法成为声音。</translation>
    </message>
    <message>
        <source>{name} is a voice now.</source>
        <translation>{name} 已成为声音。</translation>
    </message>
    <message>
        <source>{count} new voices.</source>
        <translation>新增 {count} 个声音。</translation>
    </message>
</context>
<context>
    <name>NoticeBar</name>
    <message>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Close the notice</source>
        <translation>关闭通知</translation>
    </message>
</context>
<context>
    <name>OutcomePage</name>
    <message>
        <source>Lines without sound</source>
        <translation>没有声音的行</translation>
    </message>
    <message>
        <source>Open the folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>返回</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) made.</source>
        <translation>
            <numerusform>已生成 %n 个文件。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) were there already and have not changed.</source>
        <translation>
            <numerusform>%n 个文件已存在且没有变化。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) could not be exported</source>
        <translation>
            <numerusform>有 %n 行无法导出</numerusform>
        </translation>
    </message>
    <message>
        <source>The export is done</source>
        <translation>导出完成</translation>
    </message>
    <message>
        <source>Line {number}: {error}</source>
        <translation>第 {number} 行：{error}</translation>
    </message>
    <message>
        <source>The export was cancelled</source>
        <translation>导出已取消</translation>
    </message>
    <message>
        <source>What is done stays; exporting again goes on from there.</source>
        <translation>已完成的文件会保留；再次导出时会从这里继续。</translation>
    </message>
</context>
<context>
    <name>Pages</name>
    <message>
        <source>Shortcuts</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>About Timbre Studio</source>
        <translation>关于 Timbre Studio</translation>
    </message>
    <message>
        <source>Timbre Studio {version}

Reads texts aloud in any voice, on your own computer.</source>
        <translation>Timbre Studio {version}

在你自己的电脑上，用任何声音朗读文本。</translation>
    </message>
    <message>
        <source>Load it now</source>
        <translation>立即加载</translation>
    </message>
</context>
<context>
    <name>Preferences</name>
    <message>
        <source>Choose…</source>
        <translation>选择…</translation>
    </message>
    <message>
        <source>The one the system chooses</source>
        <translation>由系统选择</translation>
    </message>
    <message>
        <source>{device} (not connected)</source>
        <translation>{device}（未连接）</translation>
    </message>
</context>
<context>
    <name>PreferencesDialog</name>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Pages of the settings</source>
        <translation>设置页面</translation>
    </message>
    <message>
        <source>Defaults of this page</source>
        <translation>恢复本页默认值</translation>
    </message>
</context>
<context>
    <name>ProgressPage</name>
    <message>
        <source>Progress of the export</source>
        <translation>导出进度</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Speaking line {number} of {count} first</source>
        <translation>先朗读第 {number} 行，共 {count} 行</translation>
    </message>
    <message>
        <source>Writing line {number} of {count}</source>
        <translation>正在写入第 {number} 行，共 {count} 行</translation>
    </message>
    <message>
        <source>Joining the lines</source>
        <translation>正在合并各行</translation>
    </message>
    <message>
        <source>{speed} times as fast as it is spoken</source>
        <translation>{speed} 倍于说话速度</translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>剩余 {time}</translation>
    </message>
    <message>
        <source>Cancelling…</source>
        <translation>正在取消…</translation>
    </message>
</context>
<context>
    <name>PromptDoctor</name>
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
        <translation>长度</translation>
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
    <message>
        <source>There is hardly any speech in it.</source>
        <translation>其中几乎没有人声。</translation>
    </message>
    <message>
        <source>Choose another part, or record it again nearer to the microphone.</source>
        <translation>请选择另一片段，或靠近麦克风重新录音。</translation>
    </message>
    <message>
        <source>It holds only {seconds:.1f} seconds of speech.</source>
        <translation>只有 {seconds:.1f} 秒人声。</translation>
    </message>
    <message>
        <source>Choose more if there is more: 3 to 10 seconds make a better likeness.</source>
        <translation>若有更多请多选一些：3 到 10 秒会更像本人。</translation>
    </message>
    <message>
        <source>{seconds:.1f} seconds of speech: a good length.</source>
        <translation>{seconds:.1f} 秒人声：长度合适。</translation>
    </message>
    <message>
        <source>It lasts {total:.1f} seconds, more than the voice gains by.</source>
        <translation>长 {total:.1f} 秒，超出的部分对声音没有帮助。</translation>
    </message>
    <message>
        <source>Choose 3 to 10 seconds: speech then begins sooner.</source>
        <translation>请选择 3 到 10 秒：这样更快开始说话。</translation>
    </message>
    <message>
        <source>It lasts {total:.1f} seconds; the models hear no more than 30.</source>
        <translation>长 {total:.1f} 秒；模型最多听 30 秒。</translation>
    </message>
    <message>
        <source>Move the handles until 3 to 10 seconds are chosen.</source>
        <translation>请移动手柄，选出 3 到 10 秒。</translation>
    </message>
    <message>
        <source>The level is good.</source>
        <translation>音量合适。</translation>
    </message>
    <message>
        <source>It is rather quiet.</source>
        <translation>音量偏低。</translation>
    </message>
    <message>
        <source>If you record it again, speak nearer to the microphone or turn it up.</source>
        <translation>若重新录音，请靠近麦克风或调高音量。</translation>
    </message>
    <message>
        <source>It is very quiet, and its noise is learnt along with the voice.</source>
        <translation>音量很低，噪声会与声音一同被学去。</translation>
    </message>
    <message>
        <source>Record it again, nearer to the microphone or with the level turned up.</source>
        <translation>请靠近麦克风或调高音量重新录音。</translation>
    </message>
    <message>
        <source>Nothing is distorted by being too loud.</source>
        <translation>没有因过响而失真。</translation>
    </message>
    <message>
        <source>Some loud moments are cut off.</source>
        <translation>有些响亮的地方被削波。</translation>
    </message>
    <message>
        <source>Choose a part without them, or record it again less loud.</source>
        <translation>请避开这些地方，或降低音量重新录音。</translation>
    </message>
    <message>
        <source>It is distorted: its loud parts are cut off.</source>
        <translation>已失真：响亮部分被削波。</translation>
    </message>
    <message>
        <source>Record it again with the level turned down; no program can mend it well.</source>
        <translation>请调低音量重新录音；没有程序能很好地修复它。</translation>
    </message>
    <message>
        <source>The background is quiet.</source>
        <translation>背景安静。</translation>
    </message>
    <message>
        <source>There is some noise behind the voice.</source>
        <translation>人声背后有些噪声。</translation>
    </message>
    <message>
        <source>Choose a quieter part, or record in a quieter place: the noise is imitated too.</source>
        <translation>请选择较安静的片段，或在较安静的地方录音：噪声也会被模仿。</translation>
    </message>
    <message>
        <source>There is loud noise, music or another voice behind the voice.</source>
        <translation>人声背后有很响的噪声、音乐或他人的声音。</translation>
    </message>
    <message>
        <source>Use a recording in which only this person is heard: everything is imitated.</source>
        <translation>请使用只有此人声音的录音：听到的一切都会被模仿。</translation>
    </message>
    <message>
        <source>High and low tones are all there.</source>
        <translation>高音和低音都完整。</translation>
    </message>
    <message>
        <source>It sounds dull: above {kilohertz:.1f} kHz there is next to nothing.</source>
        <translation>声音发闷：{kilohertz:.1f} kHz 以上几乎没有内容。</translation>
    </message>
    <message>
        <source>If there is a better copy of the recording, use that.</source>
        <translation>若有更好的版本，请使用它。</translation>
    </message>
    <message>
        <source>It sounds like a telephone: above 4 kHz there is next to nothing.</source>
        <translation>听起来像电话：4 kHz 以上几乎没有内容。</translation>
    </message>
    <message>
        <source>Use a recording made with a microphone; converting the file does not help.</source>
        <translation>请使用麦克风录制的录音；转换文件没有用。</translation>
    </message>
    <message>
        <source>It has {rate:.0f} samples a second, and at least 16000 are needed: the models listen up to 8 kHz.</source>
        <translation>每秒 {rate:.0f} 个采样，而至少需要 16000 个：模型要听到 8 kHz。</translation>
    </message>
    <message>
        <source>Use a recording of better quality; converting the file does not help.</source>
        <translation>请使用质量更好的录音；转换文件没有用。</translation>
    </message>
    <message>
        <source>There are few pauses.</source>
        <translation>停顿很少。</translation>
    </message>
    <message>
        <source>{percent:.0f} % of it is silence.</source>
        <translation>其中 {percent:.0f} % 是静音。</translation>
    </message>
    <message>
        <source>Choose a part in which the voice goes on speaking, or it may pause a lot.</source>
        <translation>请选择连续说话的片段，否则声音可能停顿很多。</translation>
    </message>
    <message>
        <source>It is mostly silence ({percent:.0f} %).</source>
        <translation>大部分是静音（{percent:.0f} %）。</translation>
    </message>
</context>
<context>
    <name>Pronunciation</name>
    <message>
        <source>There is no voice yet to say it.</source>
        <translation>还没有可以朗读它的声音。</translation>
    </message>
    <message>
        <source>Drop a recording of a voice on the window.</source>
        <translation>请把一段人声录音拖到窗口中。</translation>
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
        <source>Waiting</source>
        <translation>等待中</translation>
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
        <translation>正在准备声音</translation>
    </message>
    <message>
        <source>Speaking</source>
        <translation>朗读中</translation>
    </message>
    <message>
        <source>Nothing is waiting to be spoken.</source>
        <translation>没有等待朗读的行。</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) to go</source>
        <translation>
            <numerusform>还剩 %n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>about {time}</source>
        <translation>约 {time}</translation>
    </message>
</context>
<context>
    <name>RecorderDialog</name>
    <message>
        <source>Record a voice</source>
        <translation>录制声音</translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation>麦克风</translation>
    </message>
    <message>
        <source>Look for microphones again</source>
        <translation>重新查找麦克风</translation>
    </message>
    <message>
        <source>I am reading this text aloud:</source>
        <translation>我朗读这段文字：</translation>
    </message>
    <message>
        <source>Then its words are known, and the likeness gains by it</source>
        <translation>这样就知道其中的文字，会更像本人</translation>
    </message>
    <message>
        <source>Nothing recorded yet</source>
        <translation>尚未录音</translation>
    </message>
    <message>
        <source>Level of the microphone</source>
        <translation>麦克风电平</translation>
    </message>
    <message>
        <source>Stop by itself after two seconds of silence</source>
        <translation>静音两秒后自动停止</translation>
    </message>
    <message>
        <source>Listen</source>
        <translation>试听</translation>
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
        <source>Five to ten seconds are enough. A quiet room, a hand&apos;s breadth from the microphone.</source>
        <translation>五到十秒就够了。在安静的房间里，离麦克风一掌宽。</translation>
    </message>
    <message>
        <source>The system&apos;s default microphone</source>
        <translation>系统默认麦克风</translation>
    </message>
    <message>
        <source>Opening the microphone…</source>
        <translation>正在打开麦克风…</translation>
    </message>
    <message>
        <source>Speak: the bar should move into its middle part.</source>
        <translation>请说话：电平条应到达中间部分。</translation>
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
        <source>The computer was too busy at times and missed some: better record it again.</source>
        <translation>电脑有时太忙，漏掉了一些：最好重新录音。</translation>
    </message>
    <message>
        <source>Speak in {number}…</source>
        <translation>{number} 秒后请说话…</translation>
    </message>
    <message>
        <source>Recording: {seconds:.1f} s</source>
        <translation>正在录音：{seconds:.1f} 秒</translation>
    </message>
    <message>
        <source>The harbour was quiet that morning. A single boat came in, slow and low in the water, and the gulls, who know such things, went out to meet it.</source>
        <translation>那天早晨，港口很安静。一只小船慢慢地驶进来，吃水很深，海鸥们好像早就知道，纷纷飞出去迎接它。</translation>
    </message>
</context>
<context>
    <name>Recordings</name>
    <message>
        <source>A recording to be said in the voice of {voice}</source>
        <translation>选择要用“{voice}”的声音说出的录音</translation>
    </message>
    <message>
        <source>Sounds ({patterns})</source>
        <translation>声音文件 ({patterns})</translation>
    </message>
    <message>
        <source>All files ({patterns})</source>
        <translation>所有文件 ({patterns})</translation>
    </message>
    <message>
        <source>This line has no voice.</source>
        <translation>这一行还没有声音。</translation>
    </message>
    <message>
        <source>Choose one, or drop a recording of a voice on the window.</source>
        <translation>请选择一个声音，或把一段声音的录音拖到窗口上。</translation>
    </message>
</context>
<context>
    <name>RecoveryDialog</name>
    <message>
        <source>Unsaved work was found</source>
        <translation>发现未保存的工作</translation>
    </message>
    <message>
        <source>The program ended before this was saved. Everything up to the last moment is still there.</source>
        <translation>程序在保存之前结束了。直到最后一刻的内容都还在。</translation>
    </message>
    <message>
        <source>Unsaved work</source>
        <translation>未保存的工作</translation>
    </message>
    <message>
        <source>Recover</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Throw away</source>
        <translation>丢弃</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>以后再说</translation>
    </message>
    <message>
        <source>Never saved</source>
        <translation>从未保存</translation>
    </message>
    <message>
        <source>{lines} lines, {takes} takes</source>
        <translation>{lines} 行，{takes} 个版本</translation>
    </message>
</context>
<context>
    <name>SamplingBox</name>
    <message>
        <source>Sampling of its own</source>
        <translation>单独的采样设置</translation>
    </message>
    <message>
        <source>Probability kept</source>
        <translation>保留概率</translation>
    </message>
    <message>
        <source>Lower: calmer; higher: livelier (top p)</source>
        <translation>越低越平稳，越高越活泼（top p）</translation>
    </message>
    <message>
        <source>Tokens kept</source>
        <translation>保留词元数</translation>
    </message>
    <message>
        <source>How many candidates there are at most (top k)</source>
        <translation>最多有多少个候选（top k）</translation>
    </message>
    <message>
        <source>Looks back</source>
        <translation>回看</translation>
    </message>
    <message>
        <source>Repetition is looked for among so many tokens</source>
        <translation>在这么多词元中检查重复</translation>
    </message>
    <message>
        <source>Repetition allowed</source>
        <translation>允许的重复</translation>
    </message>
    <message>
        <source>The share of them that may be the same token</source>
        <translation>其中可以相同的词元所占比例</translation>
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
        <source>Speak a recording</source>
        <translation>朗读录音</translation>
    </message>
    <message>
        <source>Duplicate lines</source>
        <translation>复制这些行</translation>
    </message>
    <message>
        <source>Remove lines</source>
        <translation>删除这些行</translation>
    </message>
    <message numerus="yes">
        <source>%n line(s) removed</source>
        <translation>
            <numerusform>已删除 %n 行</numerusform>
        </translation>
    </message>
    <message>
        <source>To split a line, put the cursor where it is to be cut.</source>
        <translation>要拆分一行，请把光标放在拆分处。</translation>
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
        <translation>锁定此行</translation>
    </message>
    <message>
        <source>Unlock line</source>
        <translation>解锁此行</translation>
    </message>
    <message>
        <source>Change voice</source>
        <translation>更改声音</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>替换</translation>
    </message>
    <message>
        <source>Replace all</source>
        <translation>全部替换</translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) replaced</source>
        <translation>
            <numerusform>已替换 %n 处</numerusform>
        </translation>
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
        <source>The language of menus and messages. Takes effect when the program is started again.</source>
        <translation>菜单和消息的语言。重新启动程序后生效。</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>颜色</translation>
    </message>
    <message>
        <source>Light or dark, or whichever the desktop asks for.</source>
        <translation>浅色或深色，或跟随桌面的要求。</translation>
    </message>
    <message>
        <source>As the desktop</source>
        <translation>跟随桌面</translation>
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
        <source>Pasted text becomes</source>
        <translation>粘贴的文本变成</translation>
    </message>
    <message>
        <source>Short lines are quick to speak again; whole paragraphs keep their melody from sentence to sentence.</source>
        <translation>短行重新朗读很快；整段朗读则句与句之间语调连贯。</translation>
    </message>
    <message>
        <source>A line for each sentence</source>
        <translation>每句一行</translation>
    </message>
    <message>
        <source>A line for each paragraph</source>
        <translation>每段一行</translation>
    </message>
    <message>
        <source>Pause after a new line</source>
        <translation>新行之后的停顿</translation>
    </message>
    <message>
        <source>Silence between this line and the next, when several are played or joined.</source>
        <translation>连续播放或合并多行时，本行与下一行之间的静音。</translation>
    </message>
    <message>
        <source>s</source>
        <translation>秒</translation>
    </message>
    <message>
        <source>Save the project by itself every</source>
        <translation>自动保存项目的间隔</translation>
    </message>
    <message>
        <source>Only a project that has a file. Whatever happens to the program, unsaved work is offered again at its next start.</source>
        <translation>只适用于已有文件的项目。无论程序发生什么，下次启动时都可以恢复未保存的内容。</translation>
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
        <source>Play on</source>
        <translation>播放设备</translation>
    </message>
    <message>
        <source>Where takes are heard. If it is unplugged, the system&apos;s own device is used.</source>
        <translation>在哪里试听。如果设备被拔掉，则使用系统默认设备。</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Speaking and playing</source>
        <translation>朗读与播放</translation>
    </message>
    <message>
        <source>Precision of the language model</source>
        <translation>语言模型的精度</translation>
    </message>
    <message>
        <source>The fastest precision that passes its quality check on this computer, unless you know better.</source>
        <translation>在这台电脑上通过质量检查的最快精度，除非您另有打算。</translation>
    </message>
    <message>
        <source>Fastest that is good enough</source>
        <translation>足够好的最快精度</translation>
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
        <source>Processor threads</source>
        <translation>处理器线程数</translation>
    </message>
    <message>
        <source>How much of the processor speaking may take; fewer leave more to other programs.</source>
        <translation>朗读可以使用多少处理器；数目越小，留给其他程序的越多。</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Disk space for prepared voices</source>
        <translation>已准备声音占用的磁盘空间</translation>
    </message>
    <message>
        <source>Prepared voices speak at once. Those not used for longest make room for new ones.</source>
        <translation>已准备的声音可以立即朗读。最久未用的会为新的让出空间。</translation>
    </message>
    <message>
        <source>GiB</source>
        <translation>GiB</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Where sound files are written.</source>
        <translation>声音文件写入的位置。</translation>
    </message>
    <message>
        <source>Beside the project</source>
        <translation>与项目放在一起</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Single lines for a video, one file for a podcast.</source>
        <translation>视频适合逐行导出，播客适合合并成一个文件。</translation>
    </message>
    <message>
        <source>One for each line</source>
        <translation>每行一个文件</translation>
    </message>
    <message>
        <source>One for all lines</source>
        <translation>所有行一个文件</translation>
    </message>
    <message>
        <source>Both</source>
        <translation>两者都要</translation>
    </message>
    <message>
        <source>Names of files</source>
        <translation>文件名</translation>
    </message>
    <message>
        <source>{index}, {voice}, {text}, {style} and {project} are filled in; a slash makes a folder.</source>
        <translation>{index}、{voice}、{text}、{style} 和 {project} 会被替换；斜杠表示文件夹。</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>WAV and FLAC keep every detail; MP3, Vorbis and Opus are small.</source>
        <translation>WAV 和 FLAC 保留全部细节；MP3、Vorbis 和 Opus 体积小。</translation>
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
        <source>The models speak at 24 kHz; 48 kHz is usual for video, 44.1 kHz for music.</source>
        <translation>模型以 24 kHz 发声；视频常用 48 kHz，音乐常用 44.1 kHz。</translation>
    </message>
    <message>
        <source>The same pause after every line</source>
        <translation>每行之后停顿相同</translation>
    </message>
    <message>
        <source>Between the lines of a joined file; otherwise each line&apos;s own pause.</source>
        <translation>用于合并文件的各行之间；否则使用每行自己的停顿。</translation>
    </message>
    <message>
        <source>Pause between lines</source>
        <translation>行间停顿</translation>
    </message>
    <message>
        <source>Silence from the end of one line to the beginning of the next.</source>
        <translation>从一行结束到下一行开始的静音。</translation>
    </message>
    <message>
        <source>Make all files equally loud</source>
        <translation>使所有文件响度一致</translation>
    </message>
    <message>
        <source>Each file is brought to the loudness below, without clipping.</source>
        <translation>每个文件都调整到下面的响度，不会削波。</translation>
    </message>
    <message>
        <source>Loudness</source>
        <translation>响度</translation>
    </message>
    <message>
        <source>-16 is usual for podcasts, -19 for audiobooks, -23 for broadcasting.</source>
        <translation>播客常用 -16，有声书 -19，广播 -23。</translation>
    </message>
    <message>
        <source>Highest peak</source>
        <translation>最高峰值</translation>
    </message>
    <message>
        <source>No peak of the finished sound is higher than this; -1 is usual.</source>
        <translation>成品声音的峰值不会超过此值；通常为 -1。</translation>
    </message>
    <message>
        <source>Cut silence off both ends</source>
        <translation>去除首尾静音</translation>
    </message>
    <message>
        <source>A breath of it stays, softly faded.</source>
        <translation>保留一小段并柔和淡化。</translation>
    </message>
    <message>
        <source>Subtitles</source>
        <translation>字幕</translation>
    </message>
    <message>
        <source>When each line is heard in the joined sound.</source>
        <translation>每一行在合并声音中出现的时间。</translation>
    </message>
    <message>
        <source>Add a table of all files</source>
        <translation>附加文件清单</translation>
    </message>
    <message>
        <source>A CSV file with the text, voice and length of each line.</source>
        <translation>一个 CSV 文件，包含每行的文字、声音和时长。</translation>
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
        <source>Use these keys</source>
        <translation>使用这些按键</translation>
    </message>
    <message>
        <source>Default</source>
        <translation>默认</translation>
    </message>
    <message>
        <source>All to defaults</source>
        <translation>全部恢复默认</translation>
    </message>
    <message>
        <source>Now used for: {actions}. It will lose these keys.</source>
        <translation>目前用于：{actions}。它将失去这些按键。</translation>
    </message>
</context>
<context>
    <name>StatusStrip</name>
    <message>
        <source>Engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>Meters</source>
        <translation>仪表</translation>
    </message>
    <message>
        <source>First sound: from asking to the first sound.
RTF: seconds of work for a second of speech; below 1 is faster than it is heard.
Buffer: speech that is made and not yet heard.
Gaps: how often sound came too late, in this session.</source>
        <translation>首音：从请求到第一个声音的时间。
RTF：生成一秒语音所需的秒数；小于 1 表示比播放快。
缓冲：已生成但尚未播放的语音。
断音：本次会话中声音来得太晚的次数。</translation>
    </message>
    <message>
        <source>Progress of the task</source>
        <translation>任务进度</translation>
    </message>
    <message>
        <source>Cancel the task</source>
        <translation>取消任务</translation>
    </message>
    <message>
        <source>makes noise, not speech</source>
        <translation>只发出噪声，不是语音</translation>
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
        <source>{model}, asleep</source>
        <translation>{model}，休眠</translation>
    </message>
    <message>
        <source>First sound {value}</source>
        <translation>首音 {value}</translation>
    </message>
    <message>
        <source>RTF {value}</source>
        <translation>RTF {value}</translation>
    </message>
    <message>
        <source>Buffer {value}</source>
        <translation>缓冲 {value}</translation>
    </message>
    <message>
        <source>Gaps {count}</source>
        <translation>断音 {count}</translation>
    </message>
</context>
<context>
    <name>StyleBox</name>
    <message>
        <source>Plain</source>
        <translation>普通</translation>
    </message>
    <message>
        <source>In my own words…</source>
        <translation>用自己的话…</translation>
    </message>
    <message>
        <source>{style} (not known to this model)</source>
        <translation>{style}（此模型不支持）</translation>
    </message>
</context>
<context>
    <name>StyleDelegate</name>
    <message>
        <source>Style of the line</source>
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
        <translation>节奏</translation>
    </message>
    <message>
        <source>Volume</source>
        <translation>音量</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>Character</source>
        <translation>人物</translation>
    </message>
    <message>
        <source>Dialect</source>
        <translation>方言</translation>
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
    <name>TakePanel</name>
    <message>
        <source>Place in the take</source>
        <translation>播放位置</translation>
    </message>
    <message>
        <source>The chosen line has no take yet</source>
        <translation>选中的行还没有版本</translation>
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
</context>
<context>
    <name>TakesDesk</name>
    <message>
        <source>Choose take</source>
        <translation>选择版本</translation>
    </message>
    <message>
        <source>Release take</source>
        <translation>取消保留版本</translation>
    </message>
    <message>
        <source>Keep take</source>
        <translation>保留版本</translation>
    </message>
    <message>
        <source>Remove take</source>
        <translation>删除版本</translation>
    </message>
</context>
<context>
    <name>TakesList</name>
    <message>
        <source>Takes of the line</source>
        <translation>此行的版本</translation>
    </message>
    <message>
        <source>Take {number}</source>
        <translation>版本 {number}</translation>
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
        <source>Length: {seconds:.1f} s</source>
        <translation>时长：{seconds:.1f} 秒</translation>
    </message>
    <message>
        <source>Seed: {seed}</source>
        <translation>种子：{seed}</translation>
    </message>
    <message>
        <source>Voice: {voice}</source>
        <translation>声音：{voice}</translation>
    </message>
    <message>
        <source>Model: {model}</source>
        <translation>模型：{model}</translation>
    </message>
    <message>
        <source>Spoken: {when}</source>
        <translation>朗读于：{when}</translation>
    </message>
    <message>
        <source>First sound after {seconds:.2f} s</source>
        <translation>{seconds:.2f} 秒后出声</translation>
    </message>
    <message>
        <source>Real-time factor: {factor:.2f}</source>
        <translation>实时率：{factor:.2f}</translation>
    </message>
    <message>
        <source>Gaps while it was heard: {count}</source>
        <translation>播放中的断音：{count}</translation>
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
        <translation>第 {number} 行：正在准备声音</translation>
    </message>
    <message>
        <source>Speaking line {number}</source>
        <translation>正在朗读第 {number} 行</translation>
    </message>
    <message>
        <source>heard without a gap in {seconds:.0f} s</source>
        <translation>{seconds:.0f} 秒后可无间断播放</translation>
    </message>
    <message numerus="yes">
        <source>%n waiting</source>
        <translation>
            <numerusform>%n 个等待</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TextField</name>
    <message>
        <source>Text of the line</source>
        <translation>此行的文本</translation>
    </message>
</context>
<context>
    <name>UndoActions</name>
    <message>
        <source>Undone: {step}</source>
        <translation>已撤销：{step}</translation>
    </message>
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
    <name>VoiceDelegate</name>
    <message>
        <source>Voice of the line</source>
        <translation>此行的声音</translation>
    </message>
</context>
<context>
    <name>VoiceEdits</name>
    <message>
        <source>New voice {name}</source>
        <translation>新声音 {name}</translation>
    </message>
    <message>
        <source>{count} new voices</source>
        <translation>{count} 个新声音</translation>
    </message>
    <message>
        <source>Delete voice {name}</source>
        <translation>删除声音 {name}</translation>
    </message>
    <message>
        <source>Delete {count} voices</source>
        <translation>删除 {count} 个声音</translation>
    </message>
    <message>
        <source>Have back voice {name}</source>
        <translation>找回声音 {name}</translation>
    </message>
    <message>
        <source>Rename {name}</source>
        <translation>重命名 {name}</translation>
    </message>
    <message>
        <source>Change {name}</source>
        <translation>修改 {name}</translation>
    </message>
</context>
<context>
    <name>VoiceModel</name>
    <message>
        <source>Waiting to be prepared</source>
        <translation>等待准备</translation>
    </message>
    <message>
        <source>Preparing, {percent} %</source>
        <translation>正在准备，{percent} %</translation>
    </message>
    <message>
        <source>Ready to speak</source>
        <translation>可以说话</translation>
    </message>
    <message>
        <source>Could not be prepared</source>
        <translation>无法准备</translation>
    </message>
    <message>
        <source>Needs another model</source>
        <translation>需要其他模型</translation>
    </message>
    <message>
        <source>Comes with the program</source>
        <translation>程序自带</translation>
    </message>
    <message>
        <source>Without a transcript: speaks in cross-lingual mode</source>
        <translation>没有文字：以跨语种模式说话</translation>
    </message>
    <message>
        <source>Consent: {by}</source>
        <translation>同意者：{by}</translation>
    </message>
    <message>
        <source>Ctrl+{number} gives it to the selected lines</source>
        <translation>Ctrl+{number} 将其用于所选的行</translation>
    </message>
    <message>
        <source>{seconds:.1f} seconds</source>
        <translation>{seconds:.1f} 秒</translation>
    </message>
    <message>
        <source>Quality: {grade}</source>
        <translation>质量：{grade}</translation>
    </message>
</context>
<context>
    <name>VoicesPanel</name>
    <message>
        <source>New voice</source>
        <translation>新声音</translation>
    </message>
    <message>
        <source>Record…</source>
        <translation>录音…</translation>
    </message>
    <message>
        <source>Use for the selected lines</source>
        <translation>用于所选的行</translation>
    </message>
    <message>
        <source>Listen to the clip</source>
        <translation>试听录音</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Words, notes and consent…</source>
        <translation>文字、备注和同意…</translation>
    </message>
    <message>
        <source>Another voice from this recording…</source>
        <translation>用此录音再建一个声音…</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Export as a file…</source>
        <translation>导出为文件…</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Search voices</source>
        <translation>搜索声音</translation>
    </message>
    <message>
        <source>From sound files, or voices of another computer. Dropping them works too.</source>
        <translation>从录音文件或其他电脑的声音文件创建，也可以直接拖放。</translation>
    </message>
    <message>
        <source>Record a voice with the microphone</source>
        <translation>用麦克风录制声音</translation>
    </message>
    <message>
        <source>No voices yet.

Drop a recording of somebody speaking here: three to ten seconds are enough.</source>
        <translation>还没有声音。

把一段说话的录音拖到这里：三到十秒就够了。</translation>
    </message>
    <message>
        <source>No voice is called that.</source>
        <translation>没有叫这个名字的声音。</translation>
    </message>
    <message>
        <source>Export {name}</source>
        <translation>导出 {name}</translation>
    </message>
    <message>
        <source>Voices ({patterns})</source>
        <translation>声音文件 ({patterns})</translation>
    </message>
    <message>
        <source>Wrote {path}</source>
        <translation>已写入 {path}</translation>
    </message>
</context>
<context>
    <name>Waveform</name>
    <message>
        <source>No sound yet</source>
        <translation>还没有声音</translation>
    </message>
    <message>
        <source>Part of the sound in view</source>
        <translation>显示的部分</translation>
    </message>
    <message>
        <source>Waveform</source>
        <translation>波形图</translation>
    </message>
    <message>
        <source>{seconds:.1f} seconds of sound</source>
        <translation>{seconds:.1f} 秒声音</translation>
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
        <source>Said as</source>
        <translation>读作</translation>
    </message>
    <message>
        <source>Pronunciation</source>
        <translation>发音</translation>
    </message>
    <message>
        <source>Aa</source>
        <translation>Aa</translation>
    </message>
    <message>
        <source>As it stands in the text</source>
        <translation>文本中的写法</translation>
    </message>
    <message>
        <source>Other words that sound right, for any model</source>
        <translation>读音正确的其他写法，适用于所有模型</translation>
    </message>
    <message>
        <source>Pinyin such as chong2 qing4, or ARPAbet such as W AY1 N D; Fun-CosyVoice3 only</source>
        <translation>拼音（如 chong2 qing4）或 ARPAbet（如 W AY1 N D）；仅限 Fun-CosyVoice3</translation>
    </message>
    <message>
        <source>Only where capitals are the same</source>
        <translation>仅当大小写一致时</translation>
    </message>
    <message>
        <source>“{word}” stands further up already.</source>
        <translation>上面已经有“{word}”了。</translation>
    </message>
    <message>
        <source>Remove one of the two.</source>
        <translation>请删除其中一个。</translation>
    </message>
</context>
<context>
    <name>WordPage</name>
    <message>
        <source>Add word</source>
        <translation>添加词语</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Hear</source>
        <translation>试听</translation>
    </message>
    <message>
        <source>Speak this word in the voice of the current line</source>
        <translation>用当前行的声音朗读这个词</translation>
    </message>
    <message>
        <source>A word that is read wrongly: write how it should be said.</source>
        <translation>读错的词：请写下它应该怎么读。</translation>
    </message>
    <message numerus="yes">
        <source>Sent to the model as {words}. In %n line(s) of this script.</source>
        <translation>
            <numerusform>以 {words} 发送给模型。本脚本中有 %n 行用到。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_HintingView</name>
    <message>
        <source>Write a line and press Ctrl+Enter to hear it.

Paste or open a text: it becomes lines.
Drop a recording on the window to make a voice of it.</source>
        <translation>写一行，按 Ctrl+Enter 就能听到。

粘贴或打开文本：会变成多行。
把录音拖到窗口上，就能变成一个声音。</translation>
    </message>
</context>
</TS>
